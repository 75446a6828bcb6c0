import { CircleCheck, CircleDashed, CircleX, History } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'
import { plain } from '~/kit/plain'
import { ScrollBox } from '~/kit/scroll-box'
import type { CaseDiff } from './queries'
import type { CaseState } from './state'

const LOOKS = {
  passed: { tone: 'good', Icon: CircleCheck },
  failed: { tone: 'bad', Icon: CircleX },
  outdated: { tone: 'warn', Icon: History },
  not_run: { tone: 'plain', Icon: CircleDashed },
} as const

export function CaseBadge({ state }: { state: CaseState }) {
  const { t } = useTranslation('cases')
  const { tone, Icon } = LOOKS[state]
  return (
    <Badge tone={tone}>
      <Icon aria-hidden />
      {t(`state.${state}`)}
    </Badge>
  )
}

/** What was expected and what came, place by place. */
export function DiffTable({ of, diff }: { of: string; diff: readonly CaseDiff[] }) {
  const { t } = useTranslation('cases')
  return (
    <ScrollBox label={t('differences', { name: of })} role="group" className="max-h-72">
      <table className="w-full border-collapse text-left text-xs">
        <thead className="bg-raised text-muted">
          <tr>
            {['place', 'expected', 'actual'].map((column) => (
              <th key={column} scope="col" className="px-2 py-2 font-medium">
                {t(`column.${column}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {diff.map(({ path, expected, actual }) => (
            <tr key={path} className="border-t border-line align-top">
              <th scope="row" className="px-2 py-2 font-mono font-normal wrap-anywhere">
                {path || '/'}
              </th>
              <td className="px-2 py-2 font-mono wrap-anywhere text-good">{shown(expected)}</td>
              <td className="px-2 py-2 font-mono wrap-anywhere text-bad">{shown(actual)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )
}

function shown(value: unknown): string {
  return plain(JSON.stringify(value) ?? '–')
}
