import { labelOf } from '~/features/form/read/label-of'
import { useTranslation } from '~/i18n'
import { plain } from '~/kit/plain'
import { ScrollBox } from '~/kit/scroll-box'
import type { Change } from './diff'
import type { AskingTool } from './use-tools'

interface Props {
  changes: Change[]
  /** Names the fields; without it they are named by their pointers. */
  tool: AskingTool | undefined
  /** An input that has the places of the changes. */
  input: unknown
}

/** What was and what will be, field by field. */
export function ChangesTable({ changes, tool, input }: Props) {
  const { t } = useTranslation('approvals')
  return (
    <ScrollBox label={t('changes')} className="max-h-80">
      <table className="w-full border-collapse text-left text-xs">
        <thead className="bg-raised text-muted">
          <tr>
            {['field', 'before', 'after'].map((column) => (
              <th key={column} scope="col" className="px-3 py-2 font-medium">
                {t(`change.${column}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {changes.map(({ path, before, after }) => (
            <tr key={path} className="border-t border-line align-top">
              <th scope="row" title={path} className="px-3 py-2 font-normal wrap-anywhere">
                {(tool && labelOf(tool, path, input)) || path || '/'}
              </th>
              <td className="bg-bad-soft px-3 py-2 font-mono break-all text-bad">
                <Value value={before} />
              </td>
              <td className="bg-good-soft px-3 py-2 font-mono break-all text-good">
                <Value value={after} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )
}

function Value({ value }: { value: unknown }) {
  const { t } = useTranslation('approvals')
  if (value === undefined) return <span className="font-sans italic">{t('change.nothing')}</span>
  return plain(JSON.stringify(value))
}
