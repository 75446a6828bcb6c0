import { isJson, type Json, list, text } from './json'
import type { Condition } from './visible'

/** How one field is shown, as the form spec of a tool says it. */
export interface FieldSpec {
  path: string
  label?: string
  help?: string
  placeholder?: string
  component?: string
  variant?: string
  unit?: string
  width?: 'full' | 'half' | 'third'
  section?: string
  showWhen?: Condition
  upload?: { accept: string[]; maxBytes?: number }
  rows?: number
  hidden?: boolean
}

export interface Section {
  id: string
  title: string
  description?: string
  collapsed: boolean
}

export interface FormSpec {
  title?: string
  description?: string
  submitLabel?: string
  fields: FieldSpec[]
  sections: Section[]
}

/** Reads a form spec. The server has checked it; whatever is wrong all the same is passed over. */
export function readSpec(spec: unknown): FormSpec {
  const from = isJson(spec) ? spec : {}
  return {
    title: text(from.title),
    description: text(from.description),
    submitLabel: text(from.submit_label),
    fields: list(from.fields).filter(isJson).flatMap(readField),
    sections: list(from.sections).filter(isJson).flatMap(readSection),
  }
}

function readField(from: Json): FieldSpec[] {
  const path = text(from.path)
  if (!path) return []
  const upload = isJson(from.upload) ? from.upload : undefined
  return [
    {
      path,
      label: text(from.label),
      help: text(from.help),
      placeholder: text(from.placeholder),
      component: text(from.component),
      variant: text(from.variant),
      unit: text(from.unit),
      width: (['full', 'half', 'third'] as const).find((word) => word === from.width),
      section: text(from.section),
      showWhen: isJson(from.show_when) ? readCondition(from.show_when) : undefined,
      upload: upload && {
        accept: list(upload.accept).filter((kind) => typeof kind === 'string'),
        maxBytes: typeof upload.max_bytes === 'number' ? upload.max_bytes : undefined,
      },
      rows: typeof from.rows === 'number' ? from.rows : undefined,
      hidden: from.hidden === true,
    },
  ]
}

function readSection(from: Json): Section[] {
  const [id, title] = [text(from.id), text(from.title)]
  if (!id || !title) return []
  return [{ id, title, description: text(from.description), collapsed: from.collapsed === true }]
}

/** A condition has one test; null is a value here like any other. */
export function readCondition(from: Json): Condition | undefined {
  const path = text(from.path)
  if (path === undefined) return undefined
  if ('equals' in from) return { path, is: 'equals', value: from.equals }
  if ('not_equals' in from) return { path, is: 'not_equals', value: from.not_equals }
  if ('in' in from) return { path, is: 'in', value: list(from.in) }
  if ('exists' in from) return { path, is: 'exists', value: from.exists === true }
  return undefined
}
