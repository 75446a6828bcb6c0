import { lazyPart } from '~/kit/lazy-part'
import { Skeleton } from '~/kit/states'
import type { Block } from './blocks'
import { DataTable } from './data-table'
import { isObject } from './json'
import { Picture } from './picture'
import { Ranking } from './ranking'
import { Raw } from './raw'
import { table } from './rows'
import { Section } from './section'
import { Summary } from './summary'
import { Value } from './value'

const Markdown = lazyPart(
  () => import('./markdown'),
  (module) => module.default,
)

/** One part of an output, the way its tool wants it shown. */
export function BlockView({ block }: { block: Block }) {
  const { kind, label, value, config, hints } = block
  switch (kind) {
    case 'summary':
      return <Summary block={block} />
    case 'chart':
    case 'radar':
      return <Picture block={block} />
    case 'ranking':
      return <Ranking block={block} />
    case 'markdown':
      return (
        <Section label={label} value={value}>
          <Formatted text={typeof value === 'string' ? value : JSON.stringify(value)} />
        </Section>
      )
    case 'json':
      return (
        <Section label={label} value={value}>
          <Raw value={value} name={label} />
        </Section>
      )
    case 'table':
    case 'custom': {
      const found = isObject(value) && kind === 'custom' ? undefined : table(value, config)
      return (
        <Section label={label} value={value} table={found}>
          {found ? (
            <DataTable table={found} hints={hints.below('*')} name={label} />
          ) : (
            <Value value={value} hints={hints} />
          )}
        </Section>
      )
    }
  }
}

export function Formatted({ text }: { text: string }) {
  return <Markdown fallback={<Skeleton className="h-16" />} text={text} />
}
