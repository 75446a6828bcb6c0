import { plain } from '~/kit/plain'
import { variantOf } from '../controls/kind'
import { choiceInWords, humanize } from '../schema/humanize'
import { type Json, list, same, text } from '../schema/json'
import { item, layers, member, names, required } from '../schema/layers'
import { pointer, type Step, steps } from '../schema/pointer'
import { type FieldSpec, readSpec } from '../schema/spec'

/** A place in an input: what the schema and the form spec say about what stands there. */
export class Place {
  private readonly all: readonly Json[]

  private constructor(
    private readonly root: unknown,
    private readonly specs: ReadonlyMap<string, FieldSpec>,
    private readonly path: readonly Step[],
    private readonly found: readonly unknown[],
  ) {
    this.all = layers(root, found, true)
  }

  static top(schema: unknown, formSpec: unknown): Place {
    const specs = new Map(readSpec(formSpec).fields.map((field) => [field.path, field]))
    return new Place(schema, specs, [], [schema])
  }

  at(step: Step): Place {
    const found = typeof step === 'number' ? item(this.all, step) : member(this.all, step)
    return new Place(this.root, this.specs, [...this.path, step], found)
  }

  /** The names of what was given, as a form would order them; what nobody has described comes last. */
  namesIn(value: Json): string[] {
    const depth = this.path.length
    const wished = [...this.specs.keys()]
      .map(steps)
      .filter((path) => path.length === depth + 1 && this.isHere(path.slice(0, depth)))
      .map((path) => path[depth] ?? '')
    const known = new Set([...wished, ...names(this.all), ...Object.keys(value)])
    return [...known].filter((name) => Object.hasOwn(value, name) && value[name] !== undefined)
  }

  private isHere(path: readonly string[]): boolean {
    return path.every((step, index) => step === '*' || step === String(this.path[index]))
  }

  private get spec(): FieldSpec | undefined {
    const path = this.path.map((step) => (typeof step === 'number' ? '*' : step))
    return this.specs.get(pointer(this.path)) ?? this.specs.get(pointer(path))
  }

  private said(keyword: string): string | undefined {
    return this.all.map((layer) => text(layer[keyword])).find(Boolean)
  }

  get label(): string {
    const name = String(this.path.at(-1) ?? '')
    // What nobody has described is called as it was sent.
    const own = this.all.length > 0 ? humanize(name) : name
    // The title of a branch names the choice, and not the place.
    const titles = layers(this.root, this.found).map(({ title }) => text(title))
    return plain(this.spec?.label ?? titles.find(Boolean) ?? own)
  }

  get unit(): string | undefined {
    return this.spec?.unit ?? this.said('x-unit') ?? (this.variant === 'percent' ? '%' : undefined)
  }

  get variant(): string | undefined {
    return this.spec?.variant ?? this.all.map((layer) => variantOf(layer, {})).find(Boolean)
  }

  get isSecret(): boolean {
    return this.said('format') === 'password' || this.variant === 'password'
  }

  /** Whether anything is said about what is inside of a value, such as the names of members. */
  get isDescribed(): boolean {
    return this.all.some((layer) =>
      ['properties', 'additionalProperties', 'items', 'prefixItems'].some(
        (word) => typeof layer[word] === 'object',
      ),
    )
  }

  /** The words for a choice, as the form has them. */
  choice(value: unknown): string | undefined {
    for (const layer of this.all) {
      const index = list(layer.enum).findIndex((entry) => same(entry, value))
      const word = list(layer['x-enum-labels'])[index]
      if (index < 0) continue
      if (typeof word === 'string') return word
      return typeof value === 'string' ? choiceInWords(value) : undefined
    }
    return undefined
  }

  /** The names that must be there. */
  get required(): Set<string> {
    return required(this.all)
  }

  /** What a way out of the page needs to know. */
  get schema(): Json {
    return Object.assign({}, ...[...this.all].reverse())
  }
}
