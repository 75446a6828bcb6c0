import { type TFunction } from '~/i18n'
import { shown } from '../controls/props'
import { isJson, type Json } from '../schema/json'

export function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

/** What a person should know before filling a field: its description, its bounds, and what counts while it is blank. */
export function hintOf(
  schema: Json,
  description: string | undefined,
  blank: boolean,
  t: TFunction,
  language: string,
): string {
  const number = (value: unknown) =>
    new Intl.NumberFormat(language).format(typeof value === 'bigint' ? value : Number(value))
  const parts = [description ? description.replace(/\s+$/, '') : '']
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  const isSet = (value: unknown) => ['number', 'bigint'].includes(typeof value)
  if (isSet(minimum) && isSet(maximum)) {
    parts.push(t('form:hint.between', { least: number(minimum), most: number(maximum) }))
  } else if (isSet(minimum)) parts.push(t('form:hint.least', { least: number(minimum) }))
  else if (isSet(maximum)) parts.push(t('form:hint.most', { most: number(maximum) }))
  if (isSet(exclusiveMinimum)) parts.push(t('form:hint.more', { limit: number(exclusiveMinimum) }))
  if (isSet(exclusiveMaximum)) parts.push(t('form:hint.less', { limit: number(exclusiveMaximum) }))
  if (isSet(multipleOf) && multipleOf !== 1)
    parts.push(t('form:hint.step', { step: number(multipleOf) }))
  const initial = schema['x-default']
  const plain =
    initial !== undefined && initial !== null && initial !== '' && typeof initial !== 'boolean'
  if (blank && plain && !Array.isArray(initial) && !isJson(initial)) {
    parts.push(t('form:hint.default', { value: isSet(initial) ? number(initial) : shown(initial) }))
  }
  return parts.filter((part) => part !== '').join(' ')
}
