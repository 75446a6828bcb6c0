import { TriangleAlert } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'
import type { Change, Comparison } from '../types'

/** What a change means to callers: the verdict, then every line of it, those that break them first. */
export function Verdict({
  comparison,
}: {
  comparison: Pick<Comparison, 'breaking' | 'required_bump' | 'changes'>
}) {
  const { t } = useTranslation('admin')
  const { breaking, required_bump, changes } = comparison
  return (
    <div className="grid min-w-0 gap-2" aria-live="polite">
      <p className="flex items-start gap-2">
        <Breaking is={breaking} />
        <span className="min-w-0">{t(`bump.${required_bump}`)}</span>
      </p>
      {changes.length > 0 && <ChangeList changes={changes} />}
    </div>
  )
}

function ChangeList({ changes }: { changes: readonly Change[] }) {
  const { t } = useTranslation('admin')
  const inOrder = changes.toSorted((a, b) => Number(b.breaking) - Number(a.breaking))
  return (
    <ul className="grid gap-1.5">
      {inOrder.map(({ part, path, kind, breaking, message }) => (
        <li key={`${part}${path}${kind}${message}`} className="flex items-start gap-2">
          <Breaking is={breaking} />
          <span className="min-w-0 break-words">
            <span className="text-muted">{t(`editor.${part}`)}</span>{' '}
            <code className="break-all">{path || '/'}</code> <What kind={kind} message={message} />
          </span>
        </li>
      ))}
    </ul>
  )
}

/** The kinds that say all there is to say. */
const SAID = /^(property|required|additional)_/

/** The server tells a change in English; another language tells its kind, with the details as the server has them. */
function What({ kind, message }: Pick<Change, 'kind' | 'message'>) {
  const { t } = useTranslation('admin')
  const text = t(`change.${kind}`, { defaultValue: '' })
  if (text === '') return message
  if (SAID.test(kind)) return text
  return (
    <>
      {text} <span lang="en">({message})</span>
    </>
  )
}

function Breaking({ is }: { is: boolean }) {
  const { t } = useTranslation('admin')
  return is ? (
    <Badge tone="bad">
      <TriangleAlert aria-hidden />
      {t('versions.breaking')}
    </Badge>
  ) : (
    <Badge tone="good">{t('versions.compatible')}</Badge>
  )
}
