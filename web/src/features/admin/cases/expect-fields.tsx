import { useTranslation } from '~/i18n'
import { Field, Input, Select, Textarea } from '~/kit/field'
import { END_STATES, type Part, type TypedExpectation } from './expect'

interface Props {
  typed: TypedExpectation
  faultOf: (part: Part) => string | undefined
  onChange: (part: Part, text: string) => void
}

/** What has to come of a test case. What is left empty is not looked at. */
export function ExpectFields({ typed, faultOf, onChange }: Props) {
  const { t } = useTranslation('cases')
  const control = (part: Part) => {
    const fault = faultOf(part)
    const id = `case-${part}`
    return {
      field: { id, label: t(`expect.${part}`), hint: t(`expect.${part}_hint`), fault },
      input: {
        id,
        value: typed[part],
        'aria-invalid': fault !== undefined,
        'aria-describedby': fault ? `${id}-fault` : `${id}-hint`,
        onChange: (event: { target: { value: string } }) => onChange(part, event.target.value),
      },
    }
  }
  const [status, code, output, contains, jq] = (
    ['status', 'error_code', 'output', 'contains', 'jq'] as const
  ).map(control) as [Control, Control, Control, Control, Control]
  return (
    <fieldset className="grid min-w-0 gap-4">
      <legend className="mb-1 font-semibold">{t('expectations')}</legend>
      <p className="text-xs text-muted">{t('expectations_hint')}</p>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field {...status.field}>
          <Select {...status.input}>
            <option value="">{t('expect.any')}</option>
            {END_STATES.map((state) => (
              <option key={state} value={state}>
                {t(`end.${state}`)}
              </option>
            ))}
          </Select>
        </Field>
        <Field {...code.field}>
          <Input {...code.input} className="font-mono" />
        </Field>
      </div>
      <Field {...contains.field}>
        <JsonText {...contains.input} />
      </Field>
      <Field {...output.field}>
        <JsonText {...output.input} />
      </Field>
      <Field {...jq.field}>
        <Input {...jq.input} spellCheck={false} className="font-mono" />
      </Field>
    </fieldset>
  )
}

const ROWS_MIN = 3
const ROWS_MAX = 14

/** As tall as what is in it, within limits. */
function JsonText(props: Control['input']) {
  const lines = props.value.split('\n').length
  return (
    <Textarea
      {...props}
      rows={Math.min(ROWS_MAX, Math.max(ROWS_MIN, lines))}
      spellCheck={false}
      className="font-mono text-xs"
    />
  )
}

interface Control {
  field: { id: string; label: string; hint: string; fault: string | undefined }
  input: {
    id: string
    value: string
    'aria-invalid': boolean
    'aria-describedby': string
    onChange: (event: { target: { value: string } }) => void
  }
}
