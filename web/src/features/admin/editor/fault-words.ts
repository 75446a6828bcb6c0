import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'

import type { Fault, Problem } from '~/api/problem'
import { partOf } from './definition'
import { faultOfSlug } from './slug'

/** What this page itself says of a text that cannot be read. */
export const NOT_JSON = 'is not JSON'
export const NOT_WHOLE = 'is no whole number'
export const PAIR_FAULTS = {
  missing: 'a row has no name',
  double: 'a name stands there twice',
}

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
  [/^(?:is a|is a whole|must be a whole) number from (?<min>\d+) to (?<max>\d+)$/, 'range'],
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
  [new RegExp(`^${NOT_WHOLE}$`), 'whole'],
  [new RegExp(`^${PAIR_FAULTS.missing}$`), 'row_name'],
  [new RegExp(`^${PAIR_FAULTS.double}$`), 'row_double'],
  [/^is not a known property: it is called `(?<name>.+)`$/, 'called'],
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
  [/^begins with `https:/, 'url_scheme'],
  [/^scheme, host and port are fixed/, 'url_fixed'],
  [/^is no URL|^has no host$/, 'url'],
  [/^has a user name in it/, 'url_user'],
  [/^has a character that no URL has$/, 'url_character'],
  [/^has a fragment/, 'url_fragment'],
  [/^in the query an expression stands/, 'url_query'],
  [/^a URL takes expressions/, 'url_statements'],
  [/^a `(?<open>\{\{)` has no `(?<close>\}\})`$/, 'expression_open'],
  [/^an expression has at most (?<max>\d+) (?:names, values and signs|bytes)$/, 'expression_long'],
  [/^(?:it )?has more than (?<max>\d+) of (?<what>.+)$/, 'too_many'],
  [/^`(?<name>.+)` is not known here; (?<words>.+) is$/, 'name_unknown'],
  [/^only `if` and `for` can stand in .+, not `(?<word>.*)`$/, 'statement'],
  [/^a step is named as in/, 'step_named'],
  [/^is nested deeper than (?<max>\d+)$/, 'nested'],
  [/^has at most (?<max>\d+) bytes$/, 'long'],
  [/^it is over (?<max>\d+) bytes long$/, 'long'],
  [/^the label behind `secret:`/, 'secret_label'],
  [/^a text with statements cannot refer to a secret$/, 'secret_statements'],
  [/^the name of a header has characters/, 'header_name'],
  [/^the value of the header `(?<name>.+)` has characters/, 'header_value'],
  [/^the header `(?<name>.+)` is not for callers to set$/, 'header_ours'],
  [/^has at most (?<max>\d+) headers$/, 'headers_most'],
  [/^must be a positive whole number(?: of milliseconds)?$/, 'positive'],
  [/^`(?<tool>.+)` is this tool, which would call itself$/, 'calls_itself'],
  [/^`(?<tool>.+)` leads back to this tool$/, 'leads_back'],
  [/^there is no tool `(?<tool>.+)`$/, 'no_tool'],
  [/^there is no step `(?<id>.+)` before it$/, 'no_step'],
  [/^is for `on_error` `fallback`$/, 'fallback_only'],
  [/^must be an object, not /, 'object'],
  [/^is text$|^is a text with an expression$|^must be a text, not /, 'text'],
  [/^(?:a slug (?:has|cannot)|every part of a slug) /, 'no_slug'],
  [/^line (?<line>\d+), column (?<column>\d+): there is no filter `(?<name>.+?)`/, 'jq_unknown'],
  [/^line (?<line>\d+), column (?<column>\d+): expected .+, but the filter ends$/, 'jq_ends'],
  [/^line (?<line>\d+), column (?<column>\d+): expected .+, found `(?<found>.+)`$/, 'jq_found'],
  [/^line (?<line>\d+), column (?<column>\d+): (?<detail>.+)$/, 'jq_at'],
  [/^(?<detail>it is not jq|it does not compile)$/, 'jq'],
]

/** Where the language of expressions itself has something to say, whose words are its own. */
const EXPRESSIONS: [RegExp, key: string][] = [
  [/^\/execution_spec\/steps\/\d+\/when$/, 'condition'],
  [/^\/execution_spec\/(?:steps\/\d+\/input|output)(?:\/|$)/, 'expression'],
  [/^\/implementation\/(?:url|query|headers|body)(?:\/|$)/, 'expression'],
]
const OF_LANGUAGE =
  /^(?:unexpected|unknown|syntax error|expected|too many|cannot assign|invalid|bad) ?/i

/** What the server has against a part of a definition, in plain words; what is not known here stays as it came. */
export function plainly(t: TFunction<'admin'>, { path, message }: Fault, slug: string): string {
  const part = partOf(path)
  const rule = part === 'slug' && faultOfSlug(slug)
  if (rule) return t(`slug.${rule}`)
  for (const [pattern, key] of SENTENCES) {
    const found = pattern.exec(message)
    if (!found) continue
    const values: Record<string, string> = { ...found.groups }
    // A list is the same in every language, but for the word before its last.
    if (values.words) values.words = values.words.replaceAll('` or `', '`, `')
    return t(`fault.${key}`, values)
  }
  const alias = part === 'aliases' ? /^`(.*)`: /.exec(message)?.[1] : undefined
  const why = alias !== undefined && faultOfSlug(alias)
  if (why) return t('fault.alias', { alias, why: t(`slug.${why}`) })
  if (part === 'required_permission') return t('fault.permission')
  const place = EXPRESSIONS.find(([pattern]) => pattern.test(path))
  if (place && OF_LANGUAGE.test(message)) return t(`fault.${place[1]}`, { detail: message })
  return message
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
