import { parse as read } from '~/api/exact'
import type { Fault } from '~/api/problem'
import { useTranslation } from '~/i18n'
import { lazyPart } from '~/kit/lazy-part'
import { Skeleton } from '~/kit/states'
import { Faults } from '../theme/notes'

const JsonEditor = lazyPart(
  () => import('./json-editor'),
  (module) => module.default,
)

interface Props {
  id: string
  text: string
  onChange: (text: string) => void
  faults: Fault[]
  broken: boolean
  readOnly?: boolean
}

/** The input as JSON: for pasting, and for what a form cannot say. */
export function JsonPane({ id, text, onChange, faults, broken, readOnly }: Props) {
  const { t } = useTranslation('form')
  const lines = broken
    ? [t('json.broken')]
    : faults.map(({ path, message }) => (path ? `${path}: ${message}` : message))
  return (
    <div className="grid min-w-0 gap-2">
      <JsonEditor
        fallback={<Skeleton className="h-48" />}
        text={text}
        onChange={onChange}
        label={t('json.label')}
        faults={faults}
        readOnly={readOnly}
        describedBy={lines.length > 0 ? `${id}-json-faults` : undefined}
      />
      <div aria-live="polite">
        <Faults id={`${id}-json-faults`} faults={lines} />
      </div>
    </div>
  )
}

/** What a text says, or nothing where it is not JSON. */
export function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: read(text) }
  } catch {
    return undefined
  }
}
