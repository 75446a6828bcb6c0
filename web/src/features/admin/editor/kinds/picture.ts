import { isJson, text } from '~/features/form/schema/json'
import { type ChainStep, stepsOf, toolOfStep } from './steps'

/** A box of the picture. The first is what the tool is given, the last what it gives. */
export interface Box {
  /** The number of the step, from zero. */
  step?: number
  is: 'input' | 'step' | 'output'
  id: string
  tool: string
  when?: string
  onError?: string
  /** The boxes whose values it uses, by their places. */
  from: number[]
}

/** An arrow past other boxes, in a lane of its own beside them. */
export interface Lane {
  from: number
  to: number
  lane: number
}

/** The boxes of a composition, in the order in which they run. */
export function boxesOf(spec: unknown): Box[] {
  const steps = stepsOf(spec)
  const places = new Map(steps.map(({ id }, index) => [text(id) ?? '', index + 1]))
  const last = steps.length
  const usedBy = (parts: unknown[], before: number) => {
    const names = parts.flatMap(readsOf)
    const found = names.map((name) => (name === 'input' ? 0 : places.get(name)))
    return [...new Set(found)]
      .filter((place): place is number => place !== undefined && place < before)
      .sort((one, other) => one - other)
  }
  const output = isJson(spec) ? spec.output : undefined
  return [
    { is: 'input', id: '', tool: '', from: [] },
    ...steps.map(
      (step, index): Box => boxOf(step, index, usedBy([step.input, bare(step.when)], index + 1)),
    ),
    {
      is: 'output',
      id: '',
      tool: '',
      // Without a mapping it is what the last step gives.
      from: output === undefined ? [last] : usedBy([output], last + 1),
    },
  ]
}

function boxOf(step: ChainStep, index: number, from: number[]): Box {
  return {
    step: index,
    is: 'step',
    id: text(step.id) ?? '',
    tool: toolOfStep(step),
    when: text(step.when) || undefined,
    onError: text(step.on_error),
    from,
  }
}

// A condition is an expression without braces.
function bare(when: unknown): unknown {
  return typeof when === 'string' ? `{{ ${when} }}` : undefined
}

/** What the templates of a value read: `input`, or the ids of steps. */
function readsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(readsOf)
  if (isJson(value)) return Object.values(value).flatMap(readsOf)
  if (typeof value !== 'string') return []
  const expressions = value.match(/\{\{[^]*?\}\}|\{%[^]*?%\}/g) ?? []
  return expressions.flatMap((expression) => {
    const steps = [...expression.matchAll(/\bsteps\s*(?:\.\s*(\w+)|\[\s*["'](\w+)["']\s*\])/g)]
    const names = steps.map(([, dotted, quoted]) => dotted ?? quoted ?? '')
    return /(?<![\w.])input\b/.test(expression) ? ['input', ...names] : names
  })
}

/** The arrows that pass other boxes, each as far to the side as those that it would cross. */
export function lanesOf(boxes: readonly Box[]): Lane[] {
  const arrows = boxes.flatMap(({ from }, to) =>
    from.filter((place) => to - place > 1).map((place) => ({ from: place, to })),
  )
  const lanes: Lane[] = []
  // The short ones are next to the boxes.
  for (const arrow of arrows.toSorted(
    (one, other) => one.to - one.from - (other.to - other.from),
  )) {
    const crossed = lanes.filter((other) => other.from < arrow.to && arrow.from < other.to)
    let lane = 0
    while (crossed.some((other) => other.lane === lane)) lane++
    lanes.push({ ...arrow, lane })
  }
  return lanes
}
