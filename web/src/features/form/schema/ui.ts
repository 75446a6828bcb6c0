import { isJson, type Json, own } from './json'
import { steps } from './pointer'
import { UNSETTABLE } from './prepare'
import type { FieldSpec, FormSpec } from './spec'

/** What the form spec says about one field, as the form library hands it on to our parts. */
export interface FieldLook {
  unit?: string
  variant?: string
  width?: FieldSpec['width']
  section?: string
  rows?: number
  placeholder?: string
  upload?: FieldSpec['upload']
  concealed?: boolean
}

/** The form spec in the words of the form library: a tree like the schema's, with notes at its places. */
export function uiSchema(spec: FormSpec): Json {
  const root: Json = {}
  for (const field of spec.fields) {
    if (steps(field.path).includes(UNSETTABLE)) continue
    for (const node of nodes(root, steps(field.path))) note(node, field)
  }
  order(root)
  return root
}

/** The nodes that a path leads to. A `*` is the item of a list, or the value of a map. */
function nodes(root: Json, path: string[]): Json[] {
  let here = [root]
  for (const step of path) {
    const names =
      step === '*' ? ['items', 'additionalProperties'] : [/^\d+$/.test(step) ? 'items' : step]
    here = here.flatMap((node) =>
      names.map((name) => {
        const next = own(node, name)
        if (isJson(next)) return next
        const made: Json = {}
        node[name] = made
        return made
      }),
    )
  }
  return here
}

function note(node: Json, field: FieldSpec) {
  const { label, help, unit, width, section, rows, placeholder, upload, hidden } = field
  if (label) node['ui:title'] = label
  if (help) node['ui:description'] = help
  const look: FieldLook = {
    unit,
    variant: field.variant ?? component(field.component),
    width,
    section,
    rows,
    placeholder,
    upload,
    concealed: hidden,
  }
  node['ui:look'] = look
}

/** `field-input:enum` names what is shown anyway; another word names how it is shown. */
function component(name: string | undefined): string | undefined {
  return name?.startsWith('field-input:') ? undefined : name
}

/** Fields stand in the order in which the spec names them; the others follow. */
function order(node: Json) {
  const names = Object.keys(node).filter((name) => !name.startsWith('ui:') && isJson(node[name]))
  if (names.length > 0) node['ui:order'] = [...names, '*']
  for (const name of names) {
    const next = node[name]
    if (isJson(next)) order(next)
  }
}
