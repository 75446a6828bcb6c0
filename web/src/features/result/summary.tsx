import type { Block } from './blocks'
import { isObject, type Json, type JsonObject } from './json'
import { table } from './rows'
import { Section } from './section'
import { Plain, Value } from './value'
import { label } from './words'

/** The figures that matter, large; whatever is more than a figure is below them. */
export function Summary({ block: { label: name, value, hints } }: { block: Block }) {
  if (!isObject(value)) {
    return (
      <Section label={name} value={value}>
        <div className={isFigure(value) ? 'text-xl font-semibold' : ''}>
          <Value value={value} hints={hints} />
        </div>
      </Section>
    )
  }
  const entries = Object.entries(value)
  const figures = entries.filter(([, inner]) => isFigure(inner))
  const others: JsonObject = Object.fromEntries(entries.filter(([, inner]) => !isFigure(inner)))
  return (
    <Section label={name} value={value} table={table(value)}>
      {figures.length > 0 && (
        <dl className="grid grid-cols-[repeat(auto-fill,minmax(9.5rem,1fr))] gap-2">
          {figures.map(([key, inner]) => {
            const below = hints.below(key)
            return (
              <div
                key={key}
                title={below.hint.description}
                className="flex min-w-0 flex-col justify-between gap-1 rounded-md border border-line bg-raised px-3 py-2"
              >
                <dt className="text-xs text-muted">{label(key, below.hint)}</dt>
                <dd className="min-w-0 text-base font-semibold break-words">
                  <Plain value={inner} hints={below} />
                </dd>
              </div>
            )
          })}
        </dl>
      )}
      {Object.keys(others).length > 0 && <Value value={others} hints={hints} />}
    </Section>
  )
}

const SHORT = 40

function isFigure(value: Json): boolean {
  if (typeof value === 'string') return value.length <= SHORT
  return typeof value !== 'object' || value === null
}
