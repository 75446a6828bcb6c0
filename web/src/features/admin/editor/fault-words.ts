import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'

import type { Fault, Problem } from '~/api/problem'
import { partOf } from './definition'
import { faultOfSlug } from './slug'

/** What this page itself says of a text that cannot be read. */
export const NOT_JSON = 'is not JSON'

// The sentences that the server has, and the words for them here. Groups of a pattern are the values of the text.
const SENTENCES: [RegExp, key: string][] = [
  [/^is (?:needed: |a text, )one of (?<words>.+)$/, 'one_of'],
  [/^is needed: letters, digits and `_`/, 'step_id'],
  [
    /^is (?:needed|required)|^cannot be null$|^must have required|^must be a text that is/,
    'needed',
  ],
  [/^has 1 to (?<max>\d+) bytes$/, 'length'],
  [/^has at most (?<count>\d+) words of 1 to (?<max>\d+) bytes$/, 'words'],
  [/^(?:is a|must be a whole) number from (?<min>\d+) to (?<max>\d+)$/, 'range'],
  [/^is at least (?<min>\d+)$/, 'least'],
  [/^(?:is|must be) one of (?<words>.+)$/, 'one_of'],
  [/^is a list of 1 to (?<max>\d+) steps$/, 'steps'],
  [/^`(?<id>.+)` is the id of a step before$/, 'step_taken'],
  [/^is an object, or one expression/, 'step_input'],
  [/^a name is taken as it is/, 'fixed_name'],
  [/^is the same header as `(?<other>.+)`$/, 'same_header'],
  [/^is among the headers already$/, 'header_twice'],
  [/^is an object$/, 'object'],
  [new RegExp(`^${NOT_JSON}$`), 'json'],
  [/^is not a known property$|^is not known/, 'unknown'],
  [/^`(?<kind>.+)` tools cannot be made yet; this version makes (?<words>.+) tools$/, 'kind_later'],
  [/^`(?<kind>.+)` is not one of (?<words>.+)$/, 'kind_unknown'],
  [/^is not for `(?<kind>.+)` tools$/, 'not_for_kind'],
  [/^is `\*\*\*`, and nothing is stored/, 'secret'],
  [/^describes an object/, 'schema_object'],
  [/^there is a tool `.+` already$/, 'taken'],
  [/^the name `(?<alias>.+)` belongs to another tool$/, 'alias_taken'],
  [/^repeats the slug$/, 'alias_own'],
  [/^of a tool that is part of the program cannot be changed$/, 'of_program'],
  [/^cannot become `(?<to>.+)` from `(?<from>.+)`$/, 'status'],
  [/^becomes `published` by/, 'status_publish'],
]

/** What the server has against a part of a definition, in plain words; what is not known here stays as it came. */
export function plainly(t: TFunction<'admin'>, { path, message }: Fault, slug: string): string {
  const part = partOf(path)
  const rule = part === 'slug' && faultOfSlug(slug)
  if (rule) return t(`slug.${rule}`)
  for (const [pattern, key] of SENTENCES) {
    const found = pattern.exec(message)
    if (found) return t(`fault.${key}`, { ...found.groups })
  }
  const alias = part === 'aliases' ? /^`(.*)`: /.exec(message)?.[1] : undefined
  const why = alias !== undefined && faultOfSlug(alias)
  if (why) return t('fault.alias', { alias, why: t(`slug.${why}`) })
  return part === 'required_permission' ? t('fault.permission') : message
}

/** The faults of a refusal. That a name is another tool's comes without its place. */
export function faultsOf({ status, detail, errors }: Problem): Fault[] {
  if (status !== 409) return errors
  if (detail.startsWith('there is a tool')) return [{ path: '/slug', message: detail }]
  return detail.startsWith('the name') ? [{ path: '/aliases', message: detail }] : errors
}

const LABELS: Record<string, string> = {
  status: 'list.status',
  fields: 'schema.input_schema',
  ...Object.fromEntries(
    ['input_schema', 'output_schema', 'form_spec', 'view_spec', 'output_sections'].map((part) => [
      part,
      `schema.${part}`,
    ]),
  ),
}

/** What a place in a definition is called on the page, and where below that it is. */
export function usePlaceName(): (path: string) => { label: string; below: string } {
  const { t } = useTranslation(['admin', 'kinds'])
  return (path) => {
    const [, part = '', ...rest] = path.split('/')
    const [inside = '', ...deeper] = rest
    if (part === 'execution_spec' && inside === 'steps' && deeper.length > 0) {
      const [number, member, ...below] = deeper
      const label = t('kinds:step', { number: Number(number) + 1 })
      const name = member && t(`kinds:place.${member}`, { defaultValue: member })
      return { label: name ? `${label}, ${name}` : label, below: below.join(' › ') }
    }
    if ((part === 'implementation' || part === 'execution_spec') && inside) {
      const label = t(`kinds:place.${inside}`, { defaultValue: '' })
      if (label) return { label, below: deeper.join(' › ') }
    }
    if (part === 'execution' && rest.length > 0) {
      return { label: t(`editor.${rest[0]}`, { defaultValue: rest[0] }), below: '' }
    }
    const label = t(LABELS[part] ?? `editor.${part}`, { defaultValue: part })
    return { label, below: rest.filter((step) => step !== 'properties').join(' › ') }
  }
}
