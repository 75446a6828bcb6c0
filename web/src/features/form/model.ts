import { Checker } from './check/checker'
import { type Complaint, complaints } from './check/complaints'
import { kindOf } from './controls/kind'
import { cleaned } from './schema/clean'
import { filled, filledWhereNew } from './schema/fill'
import type { Json } from './schema/json'
import { at, pointer, type Step, steps } from './schema/pointer'
import { prepare } from './schema/prepare'
import { type FormSpec, readSpec } from './schema/spec'
import { uiSchema } from './schema/ui'
import { schemasAt, type Visibility, visibility } from './schema/visible'

/** What a tool asks for, in every shape in which the form needs it. Made once per schema. */
export class FormModel {
  readonly spec: FormSpec
  /** The schema as the form is drawn from it. */
  readonly drawn: Json
  readonly ui: Json
  readonly visible: Visibility
  private readonly checker: Checker

  constructor(
    readonly schema: unknown,
    formSpec: unknown,
  ) {
    this.spec = readSpec(formSpec)
    this.drawn = prepare(schema)
    this.ui = uiSchema(this.spec)
    this.visible = visibility(schema, this.spec.fields)
    this.checker = new Checker(schema)
  }

  /** Whether there are fields to draw, rather than one piece of JSON. */
  get isForm(): boolean {
    return kindOf(this.drawn, {}, this.drawn) !== 'any'
  }

  /** Whether the tool asks for nothing. */
  get isEmpty(): boolean {
    const { properties, additionalProperties, type, oneOf, anyOf, allOf, $ref } = this.drawn
    const open = additionalProperties ?? oneOf ?? anyOf ?? allOf ?? this.drawn.if ?? $ref
    return (
      type === 'object' &&
      open === undefined &&
      Object.keys((properties as Json) ?? {}).length === 0
    )
  }

  filled(value: unknown): unknown {
    return filled(this.schema, value)
  }

  filledWhereNew(next: unknown, before: unknown): unknown {
    return filledWhereNew(this.schema, next, before)
  }

  /** What is sent of a draft. */
  cleaned(draft: unknown): unknown {
    return cleaned(this.schema, draft, (path) => this.visible(path, draft))
  }

  complaints(value: unknown): Complaint[] {
    if (value === undefined) return [{ path: '', key: 'required' }]
    return complaints(this.checker.misses(value), this.schema, value)
  }

  /** The field that shows what is wrong at a place: its own, or the one that holds it. */
  fieldOf(path: string, draft: unknown): Step[] {
    const here: Step[] = []
    for (const step of steps(path)) {
      const next = [...here, step]
      const all = schemasAt(this.drawn, next)
      if (all.length === 0 || this.isConcealed(next) || !this.visible(next, draft)) break
      if (here.length > 0 && isWhole(schemasAt(this.drawn, here), this.drawn)) break
      here.push(/^\d+$/.test(step) && Array.isArray(at(draft, here)) ? Number(step) : step)
    }
    return here
  }

  private isConcealed(path: Step[]): boolean {
    const here = pointer(path)
    return this.spec.fields.some((field) => field.hidden && field.path === here)
  }
}

/** Whether one control shows a whole list or object. */
function isWhole(all: Json[], root: Json): boolean {
  const one = Object.assign({}, ...[...all].reverse()) as Json
  return !['object', 'list', 'choice', 'lazy'].includes(kindOf(one, {}, root))
}
