import { constant, isNull, onlyChecks, scalar, variant } from './branches'
import { humanize } from './humanize'
import { isJson, type Json, list, text } from './json'
import { resolve } from './layers'

/** What only checks and shows nothing. The check is made against the schema as it was written. */
const UNSEEN = [
  'not',
  'contains',
  'minContains',
  'maxContains',
  'propertyNames',
  'dependentRequired',
  'unevaluatedItems',
  '$schema',
  '$id',
  '$anchor',
  '$defs',
  'definitions',
  'default',
]

/** The one name under which the form library sets nothing. Its value can be written as JSON. */
export const UNSETTABLE = '__proto__'

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

/**
 * The schema as the form is drawn from it. It says the same as the original, in the few words that
 * the form library knows: every reference leads to `#/$defs/…`, a nullable type is one type with
 * `x-nullable`, a reference back to what it stands in is `x-lazy` and drawn when somebody wants it, and
 * what cannot be drawn is `x-any`, for an editor of plain JSON.
 *
 * `additionalProperties: false` goes: merged with a condition it would hide the very fields that
 * the condition adds.
 */
export function prepare(schema: unknown): Json {
  const preparation = new Preparation(schema)
  const root = preparation.walk(schema)
  return { ...root, $defs: preparation.defs() }
}

class Preparation {
  private readonly names = new Map<string, string>()
  private readonly ready: Json = {}
  /** What is being walked just now. A reference to it leads round in a circle. */
  private readonly open = new Set<string>()

  constructor(private readonly root: unknown) {}

  /** What was referred to on the way. */
  defs(): Json {
    return this.ready
  }

  walk(schema: unknown): Json {
    if (!isJson(schema)) return { 'x-any': true }
    const { prefixItems, items, anyOf, oneOf, ...rest } = schema
    const out: Json = {}
    for (const [keyword, value] of Object.entries(rest)) {
      if (!UNSEEN.includes(keyword)) this.keyword(out, keyword, value)
    }
    if (schema.default !== undefined) out['x-default'] = schema.default
    this.items(out, prefixItems, items)
    this.choice(out, anyOf, 'anyOf')
    this.choice(out, oneOf, 'oneOf')
    this.type(out, schema)
    return out
  }

  private keyword(out: Json, keyword: string, value: unknown) {
    switch (keyword) {
      case '$ref':
        return Object.assign(out, this.reference(value))
      case '$dynamicRef':
        out['x-any'] = true
        return
      case 'properties':
        out.properties = this.properties(value)
        return
      case 'additionalProperties':
      case 'unevaluatedProperties':
        if (value !== false) out.additionalProperties = this.walk(value)
        return
      case 'patternProperties': {
        const [first] = isJson(value) ? Object.values(value) : []
        if (first !== undefined && first !== false) out.additionalProperties ??= this.walk(first)
        return
      }
      case 'allOf':
        out.allOf = list(value).map((part) => (isJson(part) ? this.layer(part) : {}))
        return
      case 'then':
      case 'else':
        out[keyword] = isJson(value) ? this.layer(value) : {}
        return
      case 'if':
        out.if = this.condition(value)
        return
      case 'dependentSchemas':
        out.dependencies = isJson(value)
          ? mapped(value, (part) => (isJson(part) ? this.layer(part) : {}))
          : {}
        return
      default:
        out[keyword] = value
    }
  }

  /** A part that is laid over the object around it. It does not get a type of its own. */
  private layer(schema: Json): Json {
    const out = this.walk(schema)
    if (schema.type === undefined && schema.$ref === undefined) {
      delete out.type
      delete out['x-any']
    }
    return out
  }

  private reference(value: unknown): Json {
    const reference = text(value) ?? ''
    const known = this.names.get(reference)
    if (known && this.open.has(known)) return { 'x-lazy': `#/$defs/${known}` }
    if (known) return { $ref: `#/$defs/${known}` }
    const target = resolve(this.root, reference)
    if (!isJson(target)) return { 'x-any': true }
    const name = `d${this.names.size}`
    this.names.set(reference, name)
    this.open.add(name)
    this.ready[name] = this.walk(target)
    this.open.delete(name)
    return { $ref: `#/$defs/${name}` }
  }

  /** A condition is only asked, not drawn; its references still have to lead somewhere. */
  private condition(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((part) => this.condition(part))
    if (!isJson(schema)) return schema
    return mapped(schema, (value, name) => {
      if (name === '$ref' && typeof value === 'string') {
        const told = this.reference(value)
        return told.$ref ?? told['x-lazy'] ?? value
      }
      if (name === 'const' || name === 'enum') return value
      return this.condition(value)
    })
  }

  private properties(value: unknown): Json {
    if (!isJson(value)) return {}
    const seen = Object.entries(value).filter(
      ([name, schema]) => schema !== false && name !== UNSETTABLE,
    )
    return Object.fromEntries(
      seen.map(([name, schema]) => {
        const title = isJson(schema) ? text(schema.title) : undefined
        return [name, { ...this.walk(schema), title: title ?? (humanize(name) || name) }]
      }),
    )
  }

  private items(out: Json, prefixItems: unknown, items: unknown) {
    const numbered = list(prefixItems)
    if (numbered.length > 0) {
      out.items = numbered.map((item) => this.walk(item))
      const full = typeof out.maxItems === 'number' && out.maxItems <= numbered.length
      out.additionalItems = items === false || full ? false : this.walk(items ?? true)
    } else if (items !== undefined) {
      out.items = this.walk(items)
    }
  }

  private choice(out: Json, value: unknown, keyword: 'anyOf' | 'oneOf') {
    const all = list(value).filter((branch) => branch !== false)
    if (all.length === 0) return
    const branches = all.filter((branch) => !isNull(branch))
    if (branches.length < all.length) out['x-nullable'] = true
    const constants = branches.map(constant)
    if (branches.length > 0 && constants.every((entry) => entry !== undefined)) {
      out.enum = constants.map((entry) => entry.value)
      out['x-enum-labels'] = constants.map((entry) => entry.label)
      return
    }
    const [only] = branches
    if (branches.length === 1 && isJson(only)) {
      const { title, description, ...one } = this.walk(only)
      for (const [name, entry] of Object.entries({ title, description, ...one })) {
        if (entry !== undefined) out[name] ??= entry
      }
      return
    }
    const scalars = branches.map(scalar)
    if (scalars.every((name) => name !== undefined)) {
      out['x-any'] = true
      out['x-types'] = [...new Set(scalars)]
      return
    }
    // Nothing distinguishes parts that only ask for one property or another.
    if (branches.every((branch) => isJson(branch) && onlyChecks(branch))) return
    out[keyword] = branches.map((branch) => this.named(branch))
  }

  /** A branch, with a title by which it can be picked. */
  private named(branch: unknown): Json {
    const out = this.walk(branch)
    if (typeof out.title === 'string') return out
    const target = isJson(branch) && typeof branch.$ref === 'string' ? branch.$ref : undefined
    const meant = target ? resolve(this.root, target) : branch
    const title = isJson(meant) ? (text(meant.title) ?? variant(meant)) : undefined
    const name = target?.split('/').pop()
    const words = title ?? (name ? humanize(name) : undefined)
    return words ? { ...out, title: words } : out
  }

  private type(out: Json, schema: Json) {
    const { type } = schema
    const types = (Array.isArray(type) ? type : [type]).filter((name) => name !== undefined)
    if (types.some((name) => !TYPES.includes(String(name)))) {
      delete out.type
      out['x-any'] = true
      return
    }
    const wanted = types.filter((name) => name !== 'null')
    if (wanted.length < types.length && wanted.length > 0) out['x-nullable'] = true
    if (wanted.length > 1) {
      const numbers = wanted.length === 2 && wanted.includes('integer') && wanted.includes('number')
      if (numbers) out.type = 'number'
      else {
        delete out.type
        out['x-any'] = true
        out['x-types'] = wanted
      }
    } else if (wanted.length === 1) {
      out.type = wanted[0]
    }
    if (out['x-nullable'] && Array.isArray(out.enum)) {
      const labels = list(out['x-enum-labels'])
      const kept = out.enum.map((entry, index) => ({ entry, label: labels[index] }))
      const shown = kept.filter(({ entry }) => entry !== null)
      out.enum = shown.map(({ entry }) => entry)
      if (labels.length > 0) out['x-enum-labels'] = shown.map(({ label }) => label)
    }
    if (types.length === 0) infer(out)
    if (out.type === 'array') out.items ??= { 'x-any': true }
  }
}

/** Gives a schema without a type the one that its other words speak of. */
function infer(out: Json) {
  if (out.type !== undefined || out.$ref !== undefined) return
  if (out['x-any'] || out['x-lazy']) return
  const has = (...keywords: string[]) => keywords.some((keyword) => out[keyword] !== undefined)
  if (has('enum', 'const')) return
  if (has('properties', 'additionalProperties', 'required', 'dependencies')) out.type = 'object'
  else if (has('items', 'minItems', 'maxItems', 'uniqueItems')) out.type = 'array'
  else if (has('anyOf', 'oneOf', 'allOf', 'if')) return
  else if (has('minLength', 'maxLength', 'pattern', 'format')) out.type = 'string'
  else if (has('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'))
    out.type = 'number'
  else out['x-any'] = true
}

function mapped(value: Json, change: (part: unknown, name: string) => unknown): Json {
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, change(part, name)]))
}
