import type { Fault } from '~/api/problem'
import { type TFunction, useTranslation } from '~/i18n'
import { faultWords } from '~/i18n/server-words'
import { type Definition, partOf } from './definition'
import { faultOfSlug } from './slug'

/** What this page itself has against a text that cannot be read: the names of its texts. */
export const NOT_JSON = 'json'
export const NOT_WHOLE = 'whole'
export const NOT_TIME = 'time'
export const PAIR_FAULTS = {
  missing: 'row_name',
  double: 'row_double',
}

/** What is wrong with a part of a definition, in plain words. */
export function plainly(
  t: TFunction,
  fault: Fault,
  { slug, ...words }: Pick<Definition, 'slug' | 'name' | 'description'>,
): string {
  const part = partOf(fault.path)
  // The server says what a text must be; whoever left it empty is told what to do.
  if ((part === 'name' || part === 'description') && words[part].trim() === '') {
    return t(`fault.${part}`)
  }
  const rule = part === 'slug' && faultOfSlug(slug)
  if (rule) return t(`slug.${rule}`)
  if (fault.code === 'taken' && part === 'slug') return t('slug.taken')
  return fault.code === undefined ? t(`fault.${fault.message}`) : faultWords(fault)
}

const LABELS: Record<string, string> = {
  status: 'list.status',
  timeout_ms: 'editor.timeout',
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
