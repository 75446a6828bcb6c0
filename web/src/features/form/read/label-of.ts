import { isJson } from '../schema/json'
import { steps } from '../schema/pointer'
import { Place } from './place'

/** What the form calls a place of an input, with what holds it: `Lines › 2 › Price`. */
export function labelOf(
  tool: { input_schema: unknown; form_spec?: unknown },
  path: string,
  value: unknown,
): string {
  let place = Place.top(tool.input_schema, tool.form_spec)
  let here = value
  const labels = steps(path).map((step) => {
    const isItem = Array.isArray(here) || (!isJson(here) && /^\d+$/.test(step))
    place = place.at(isItem ? Number(step) : step)
    here = isItem
      ? Array.isArray(here)
        ? here[Number(step)]
        : undefined
      : isJson(here) && here[step]
    return isItem ? String(Number(step) + 1) : place.label
  })
  return labels.join(' › ')
}
