type Json = Record<string, any>

/** A piece of JSON as it is written: 1.0 is another text than 1, and means the same. */
class Written {
  constructor(readonly text: string) {}
}

/** Chance that comes out the same for the same seed. */
class Chance {
  constructor(private state: number) {}

  /** From 0 up to 1, as the generator called mulberry32 makes it. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T
  }
}

/**
 * JSON texts of inputs for a tool, made from its schema: every fourth fits, the others are such ones
 * with one or two things changed, mostly for the worse.
 */
export function inputsFor(schema: Json, seed: number, count: number): string[] {
  const chance = new Chance(seed)
  const maker = new Maker(schema, chance)
  return Array.from({ length: count }, (_, index) => {
    let input = maker.fitting(schema)
    for (let change = index % 4; change > 0; change -= 2) input = maker.changed(schema, input)
    return written(input)
  })
}

class Maker {
  constructor(
    private readonly root: Json,
    private readonly chance: Chance,
  ) {}

  fitting(given?: Json | true): unknown {
    const schema = this.resolved(given)
    if (schema.enum) return this.chance.of(schema.enum)
    if (schema.type === undefined) return this.chance.of(ANYTHING)
    switch (this.chance.of([schema.type].flat())) {
      case 'object':
        return this.object(schema)
      case 'array': {
        const least = schema.minItems ?? 0
        const most = Math.min(schema.maxItems ?? Infinity, least + 3)
        const length = least + this.chance.below(most - least + 1)
        return Array.from({ length }, () => this.fitting(schema.items))
      }
      case 'number':
      case 'integer':
        return this.number(schema)
      case 'string':
        return this.text(schema)
      case 'boolean':
        return this.chance.of([true, false])
      case 'null':
        return null
    }
    throw new Error(`no way to make a value for ${JSON.stringify(schema)}`)
  }

  private object(schema: Json): Json {
    const names = Object.keys(schema.properties ?? {})
    const kept = names.filter((name) => schema.required?.includes(name) || this.chance.below(2))
    return Object.fromEntries(kept.map((name) => [name, this.fitting(schema.properties[name])]))
  }

  private number(schema: Json): number {
    const { minimum = schema.exclusiveMinimum ?? -1e6, maximum = 1e6 } = schema
    const step = schema.type === 'number' ? 0.25 : 1
    const lowest = minimum + (schema.exclusiveMinimum === minimum ? step : 0)
    const between = lowest + this.chance.next() * (Math.min(maximum, lowest + 1e4) - lowest)
    return this.chance.of([lowest, maximum, Math.floor(between / step) * step])
  }

  private text(schema: Json): string {
    const ideas = [...(schema.examples ?? []), 'EUR', 'Ada', 'Zoë 🦊', 'two words', 'x\ny', ' a ']
    const fit = ideas.filter(
      (idea) => typeof idea === 'string' && new RegExp(schema.pattern ?? '', 'u').test(idea),
    )
    if (fit.length === 0) throw new Error(`no text fits ${schema.pattern}`)
    return this.chance.of(fit)
  }

  /** The value with one thing changed in it, at the top or below. */
  changed(given: Json | true | undefined, value: unknown): unknown {
    const schema = this.resolved(given)
    if (Array.isArray(value) && schema.items && value.length > 0 && this.chance.below(3)) {
      const at = this.chance.below(value.length)
      return value.map((item, index) => (index === at ? this.changed(schema.items, item) : item))
    }
    if (!isObject(value) || !schema.properties) return this.other(schema, value)
    const names = Object.keys(schema.properties)
    const name = this.chance.of(names)
    switch (this.chance.below(10)) {
      case 0:
        return { ...value, surplus: 1 }
      case 1: {
        const { [this.chance.of(Object.keys(value)) ?? '']: _, ...rest } = value
        return rest
      }
      case 2:
        return { ...value, [name]: this.chance.of(ANYTHING) }
      case 3:
        return this.chance.below(3) ? { ...value, [name.toUpperCase()]: value[name] ?? 1 } : {}
      default: {
        const below = schema.properties[name]
        return { ...value, [name]: this.changed(below, value[name] ?? this.fitting(below)) }
      }
    }
  }

  private other(schema: Json, value: unknown): unknown {
    if (typeof value === 'number') return this.chance.of(numbersAbout(schema, value))
    if (typeof value === 'string') return this.chance.of(textsAbout(schema, value))
    if (Array.isArray(value)) return this.chance.of(listsAbout(schema, value))
    return this.chance.of(ANYTHING)
  }

  /** What is left out, or `true`, takes anything. */
  private resolved(given: Json | true | undefined): Json {
    const schema = typeof given === 'object' ? given : {}
    const name = schema.$ref?.replace('#/$defs/', '')
    return name ? { ...this.root.$defs[name], ...schema } : schema
  }
}

const ANYTHING = [null, true, 0, -1, 0.5, 1e15, '', ' ', '12', 'text', [], {}, [null], { a: 1 }]

function numbersAbout(schema: Json, value: number): unknown[] {
  const { minimum, maximum, exclusiveMinimum } = schema
  const edges = [minimum, maximum, exclusiveMinimum].filter((edge) => edge !== undefined)
  return [
    ...edges.flatMap((edge) => [edge, edge - 1, edge + 1, edge - 1e-3, edge + 1e-3]),
    new Written(Number.isInteger(value) ? `${value}.0` : `${value}0`),
    new Written(`${value}e0`),
    new Written('-0'),
    new Written('1E2'),
    new Written('1e300'),
    new Written('9007199254740993'),
    value + 0.5,
    String(value),
    null,
    false,
    [value],
  ]
}

function textsAbout(schema: Json, value: string): unknown[] {
  const most = schema.maxLength ?? 300
  return [
    '',
    ' ',
    '\n',
    ` ${value}`,
    `${value}\n`,
    value.toLowerCase(),
    value.toUpperCase(),
    'x'.repeat(most),
    'x'.repeat(most + 1),
    // One sign each, although two units of UTF-16.
    '🦊'.repeat(most),
    '🦊'.repeat(most + 1),
    null,
    5,
    [value],
    { value },
  ]
}

function listsAbout(schema: Json, value: unknown[]): unknown[] {
  const filler = value[0] ?? null
  const most = schema.maxItems ?? 20
  return [
    [],
    [null],
    [...value, ''],
    [...value, null],
    [...value, ...value],
    Array.from({ length: most + 1 }, () => filler),
    [value],
    { 0: filler },
    filler,
    'text',
    null,
  ]
}

function isObject(value: unknown): value is Json {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Written)
  )
}

function written(value: unknown): string {
  if (value instanceof Written) return value.text
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, member]) => {
    return `${JSON.stringify(name)}:${written(member)}`
  })
  return `{${members.join(',')}}`
}
