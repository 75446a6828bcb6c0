import type { Fault } from '~/api/problem'
import type { components } from '~/api/schema'
import { InputForm } from '~/features/form/input-form'
import { ReadInput } from '~/features/form/read/read-input'
import { Raw } from '~/features/result/raw'
import { useTranslation } from '~/i18n'
import type { Approval } from './approval-queries'

interface Props {
  approval: Approval
  /** Missing while it is read, and where it is no more. */
  tool: components['schemas']['ToolView'] | undefined
  editing: boolean
  value: unknown
  onChange: (value: unknown) => void
  faults: Fault[]
  busy: boolean
  onReview: (value: unknown) => void
}

/** What the agent wants to send, in the tool's own form: to read, and after "Edit" to change. */
export function ApprovalInput(props: Props) {
  const { approval, tool, editing, value, onChange, faults, busy, onReview } = props
  const { t } = useTranslation('approvals')
  const title = approval.status === 'pending' ? 'input' : 'input_asked'
  return (
    <section
      aria-labelledby="input"
      className="grid min-w-0 gap-4 rounded-lg border border-line p-4"
    >
      <h2 id="input" className="text-base font-semibold">
        {t(editing ? 'input_edited' : title)}
      </h2>
      {!tool ? (
        <Raw value={approval.input} name={t('input')} />
      ) : editing ? (
        <InputForm
          tool={tool}
          value={value}
          onChange={onChange}
          faults={faults}
          onSubmit={onReview}
          submitLabel={t('review')}
          busy={busy}
        />
      ) : (
        <ReadInput tool={tool} value={value} />
      )}
    </section>
  )
}
