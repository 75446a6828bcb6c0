import { useValues } from '~/features/form/read/use-values'
import { useTranslation } from '~/i18n'
import { Field, Select } from '~/kit/field'
import type { Approval } from './approval-queries'
import { FIRST_CHOICE, STANDING_HOURS, type StandingChoice } from './standing'
import type { AskingTool } from './use-tools'

interface Props {
  approval: Approval
  tool: AskingTool | undefined
  who: string
  /** Nothing where only this one call is approved. */
  chosen: StandingChoice | undefined
  onChoose: (choice: StandingChoice | undefined) => void
  /** What the server has against it. */
  fault?: string
}

/** The choice to approve later calls as well: for how long, and what of their input has to be the same. */
export function StandingFields({ approval, tool, who, chosen, onChoose, fault }: Props) {
  const { t } = useTranslation('approvals')
  return (
    <div className="grid min-w-0 gap-3 rounded-lg border border-line p-3">
      <label className="flex items-start gap-2">
        <input
          type="checkbox"
          className="mt-0.5 size-4 accent-accent"
          checked={chosen !== undefined}
          onChange={(event) => onChoose(event.target.checked ? FIRST_CHOICE : undefined)}
        />
        <span className="grid gap-0.5">
          <span className="font-medium">{t('standing.also')}</span>
          <span className="text-xs text-muted">{t('standing.also_hint', { who })}</span>
        </span>
      </label>
      {chosen && (
        <>
          <Field id="standing-hours" label={t('standing.for')}>
            <Select
              id="standing-hours"
              className="w-40"
              value={chosen.hours}
              onChange={(event) => onChoose({ ...chosen, hours: Number(event.target.value) })}
            >
              {STANDING_HOURS.map((hours) => (
                <option key={hours} value={hours}>
                  {t('standing.hours', { count: hours })}
                </option>
              ))}
            </Select>
          </Field>
          <Kept approval={approval} tool={tool} chosen={chosen} onChoose={onChoose} />
        </>
      )}
      {fault && (
        <p role="alert" className="text-bad">
          {fault}
        </p>
      )}
    </div>
  )
}

interface KeptProps extends Pick<Props, 'approval' | 'tool'> {
  chosen: StandingChoice
  onChoose: (choice: StandingChoice) => void
}

function Kept({ approval, tool, chosen, onChoose }: KeptProps) {
  const { t } = useTranslation('approvals')
  const values = useValues(tool, approval.input)
  const { fields } = chosen
  const toggle = (path: string, on: boolean) => {
    // In the order of the form, whatever was ticked first.
    const next = values
      .map((value) => value.path)
      .filter((one) => (one === path ? on : fields?.includes(one)))
    onChoose({ ...chosen, fields: next })
  }
  return (
    <fieldset className="grid min-w-0 gap-2">
      <legend className="mb-1 font-medium">{t('standing.same')}</legend>
      <label className="flex items-center gap-2">
        <input
          type="radio"
          name="standing-kept"
          className="size-4 accent-accent"
          checked={fields === undefined}
          onChange={() => onChoose({ ...chosen, fields: undefined })}
        />
        {t('standing.whole')}
      </label>
      {values.length > 0 && (
        <label className="flex items-center gap-2">
          <input
            type="radio"
            name="standing-kept"
            className="size-4 accent-accent"
            checked={fields !== undefined}
            onChange={() => onChoose({ ...chosen, fields: values.map(({ path }) => path) })}
          />
          {t('standing.some')}
        </label>
      )}
      {fields && (
        <>
          <ul className="ml-6 grid min-w-0 gap-1.5">
            {values.map(({ path, label, text }) => (
              <li key={path}>
                <label className="flex min-w-0 items-start gap-2">
                  <input
                    type="checkbox"
                    className="mt-0.5 size-4 shrink-0 accent-accent"
                    checked={fields.includes(path)}
                    onChange={(event) => toggle(path, event.target.checked)}
                  />
                  <span className="min-w-0 wrap-anywhere">
                    <span className="text-muted">{label}:</span> {text}
                  </span>
                </label>
              </li>
            ))}
          </ul>
          <p className={fields.length === 0 ? 'text-xs text-bad' : 'text-xs text-muted'}>
            {t(fields.length === 0 ? 'standing.none' : 'standing.rest')}
          </p>
        </>
      )}
    </fieldset>
  )
}
