import SchemaField from '@rjsf/core/lib/components/fields/SchemaField.js'

import { fields, templates } from '../theme'

/** What the form library draws with: our own parts alone. Its own ones, which nobody would see, are a fifth of the form. */
export default function registry() {
  return {
    fields: { SchemaField, ...fields },
    templates,
    widgets: {},
    rootSchema: {},
    formContext: {},
    translateString: (text: string) => text,
    globalFormOptions: {
      idPrefix: 'root',
      idSeparator: '_',
      useFallbackUiForUnsupportedType: false,
    },
  }
}
