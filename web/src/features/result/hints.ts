import { isObject, type JsonObject } from './json'
import { humanise } from './words'

/** What an output schema says about one place of the output, as far as showing it goes. */
export interface Hint {
  title?: string
  description?: string
  unit?: string
  /** The value is one of a few words, so it can be shown as words. */
  word: boolean
}

/** How many references are followed before a schema counts as going round in circles. */
const REFERENCES_MAX = 20

/** Reads the labels and units that an output schema gives to the places of an output. */
export class Hints {
  constructor(
    private readonly root: unknown,
    private readonly places: unknown[] = [root],
  ) {}

  /** The hints one step further down; `*` is any item of a list. */
  below(step: string): Hints {
    const inner = this.described().flatMap((schema) => [
      property(schema, step),
      /^(\*|\d+)$/.test(step) ? schema.items : undefined,
    ])
    return new Hints(this.root, inner.filter(isObject))
  }

  at(path: string[]): Hints {
    return path.reduce<Hints>((hints, step) => hints.below(step), this)
  }

  /** What a value is called, where the schema names the few that there are. Without a label its name is put in words. */
  word(value: string): string | undefined {
    const all = this.described()
    for (const schema of all) {
      const index = Array.isArray(schema.enum) ? schema.enum.indexOf(value) : -1
      const labels = schema['x-enum-labels']
      const label = Array.isArray(labels) ? labels[index] : undefined
      if (typeof label === 'string') return label
      if (schema.const === value && typeof schema.title === 'string') return schema.title
    }
    return this.hint.word ? humanise(value) : undefined
  }

  get hint(): Hint {
    const every = this.described()
    // One of several values is not the place that holds them.
    const all = every.filter((schema) => schema.const === undefined)
    const text = (key: string) =>
      all.map((schema) => schema[key]).find((value): value is string => typeof value === 'string')
    return {
      title: text('title'),
      description: text('description'),
      unit: text('x-unit'),
      word: every.some(({ enum: values, const: value }) => {
        return Array.isArray(values) || typeof value === 'string'
      }),
    }
  }

  /** Every schema that holds at this place: what is referred to, and each of the alternatives. */
  private described(): JsonObject[] {
    const found: JsonObject[] = []
    const waiting = [...this.places]
    while (waiting.length > 0 && found.length < REFERENCES_MAX) {
      const schema = waiting.shift()
      if (!isObject(schema)) continue
      found.push(schema)
      if (typeof schema.$ref === 'string') waiting.push(this.referred(schema.$ref))
      for (const key of ['allOf', 'anyOf', 'oneOf']) {
        const parts = schema[key]
        if (Array.isArray(parts)) waiting.push(...parts)
      }
    }
    return found
  }

  private referred(reference: string): unknown {
    const name = /^#\/\$defs\/([^/]+)$/.exec(reference)?.[1]
    const defs = isObject(this.root) ? this.root.$defs : undefined
    return name && isObject(defs) ? defs[name] : undefined
  }
}

function property(schema: JsonObject, name: string): unknown {
  const properties = schema.properties
  return isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
}
