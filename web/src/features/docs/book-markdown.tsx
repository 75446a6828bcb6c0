import { Link } from '@tanstack/react-router'
import { Hash } from 'lucide-react'
import { isValidElement, type ReactNode, useMemo } from 'react'
import type { Components } from 'react-markdown'

import Markdown from '~/features/result/markdown'
import { useTranslation } from '~/i18n'
import { CodeBlock } from '~/kit/code-block'
import { headingsOf, type PageHeading } from './headings'
import { isOurs, linkFrom } from './links'

interface Props {
  text: string
  /** Where the text comes from, for its relative links. */
  markdown: string
}

/** A page of the book. Heavy: import it lazily. */
export default function BookMarkdown({ text, markdown }: Props) {
  const components = useMemo(
    (): Components => ({ ...PARTS, ...headings(headingsOf(text)) }),
    [text],
  )
  return (
    <Markdown
      text={text}
      components={components}
      linkTo={(target) => linkFrom(markdown, target)}
      className="prose-code:rounded prose-code:bg-sunken prose-code:px-1 prose-code:py-0.5 prose-code:font-normal prose-code:break-words prose-code:before:content-none prose-code:after:content-none prose-a:text-accent prose-table:text-sm [&_td]:min-w-24 [&_td_code]:break-normal"
    />
  )
}

const PARTS: Components = {
  a: PageLink,
  pre: ({ children }) => <Code>{children}</Code>,
  h1: ({ children }) => <h1 className="mb-4 text-2xl font-semibold break-words">{children}</h1>,
}

function PageLink({ href, children }: { href?: string; children?: ReactNode }) {
  if (!href) return <span>{children}</span>
  if (href.startsWith('#')) return <a href={href}>{children}</a>
  if (isOurs(href)) return <Link to={href}>{children}</Link>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

/** Headings by the line they stand in: the same words may head two parts of a page. */
function headings(found: PageHeading[]): Components {
  const ids = new Map(found.map(({ line, id }) => [line, id]))
  const as = (Level: 'h2' | 'h3' | 'h4'): Components['h2'] =>
    function Heading({ node, children }) {
      return (
        <Anchored Level={Level} id={ids.get(node?.position?.start.line ?? 0)}>
          {children}
        </Anchored>
      )
    }
  return { h2: as('h2'), h3: as('h3'), h4: as('h4') }
}

interface AnchoredProps {
  Level: 'h2' | 'h3' | 'h4'
  id?: string
  children: ReactNode
}

function Anchored({ Level, id, children }: AnchoredProps) {
  const { t } = useTranslation('docs')
  return (
    <Level id={id} className="group flex scroll-mt-20 items-baseline gap-2">
      <span className="min-w-0">{children}</span>
      <a
        href={`#${id}`}
        aria-label={t('link_to_here')}
        className="shrink-0 opacity-0 group-hover:opacity-100 focus:opacity-100"
      >
        <Hash aria-hidden className="inline size-4" />
      </a>
    </Level>
  )
}

function Code({ children }: { children: ReactNode }) {
  const { t } = useTranslation('docs')
  const code = isValidElement<{ className?: string; children?: ReactNode }>(children)
    ? children.props
    : { children }
  const language = /language-(\w+)/.exec(code.className ?? '')?.[1]
  return (
    <div className="not-prose my-4">
      <CodeBlock
        text={String(code.children).replace(/\n$/, '')}
        label={t('code')}
        language={language}
      />
    </div>
  )
}
