// The index of the package also loads a validator that compiles code, for its own tests.
import Form from '@rjsf/core/lib/components/Form.js'
import type { ErrorSchema, RJSFSchema, UiSchema } from '@rjsf/utils'
import { memo, useMemo } from 'react'

import { validator } from './check/adapter'
import { CurrencyContext, currencyOf } from './controls/currency'
import type { FormModel } from './model'
import type { Json } from './schema/json'
import { always } from './schema/visible'
import { fields, templates } from './theme'
import { mergeAllOf } from './theme/merge'
import { ScopeContext, ValueContext } from './theme/scope'

interface Props {
  id: string
  model: FormModel
  draft: unknown
  onEdit: (draft: unknown) => void
  onBlur: (id: string) => void
  faults: ErrorSchema
  readOnly: boolean
}

/** The library's form with the data that it was given: its own merging loses what is named `constructor`. */
class PlainForm extends Form {
  getStateFromProps(...given: Parameters<Form['getStateFromProps']>) {
    const [, formData] = given
    const state = super.getStateFromProps(...given)
    return formData === undefined ? state : { ...state, formData }
  }
}

/** What a form starts with is our business: it is the server's rule, not the library's. */
const NO_DEFAULTS = {
  emptyObjectFields: 'skipDefaults',
  arrayMinItems: { populate: 'never' },
  constAsDefaults: 'never',
  allOf: 'skipDefaults',
} as const

/** One and the same element: the library compares what it is given to the last detail. */
const NO_BUTTON = <></>
const nothing = () => {}
const merge = (schema: RJSFSchema) => mergeAllOf(schema as Json) as RJSFSchema

/** The fields of a schema, drawn by the form library with our own parts. */
export const Fields = memo(function Fields(props: Props) {
  const { id, model, draft, onEdit, onBlur, faults, readOnly } = props
  const scope = useMemo(
    () => ({
      visible: model.visible,
      sections: model.spec.sections,
      schema: model.drawn,
    }),
    [model],
  )
  const watched = model.visible !== always ? draft : undefined
  return (
    <ScopeContext value={scope}>
      <CurrencyContext value={currencyOf(draft)}>
        <ValueContext value={watched}>
          <PlainForm
            // The form around it is ours.
            tagName="div"
            className="min-w-0"
            idPrefix={id}
            idSeparator="."
            schema={model.drawn as RJSFSchema}
            uiSchema={model.ui as UiSchema}
            validator={validator}
            formData={draft}
            fields={fields}
            templates={templates}
            readonly={readOnly}
            noValidate
            showErrorList={false}
            extraErrors={faults}
            experimental_defaultFormStateBehavior={NO_DEFAULTS}
            experimental_customMergeAllOf={merge}
            onChange={readOnly ? nothing : ({ formData }) => onEdit(formData)}
            onBlur={onBlur}
          >
            {NO_BUTTON}
          </PlainForm>
        </ValueContext>
      </CurrencyContext>
    </ScopeContext>
  )
})
