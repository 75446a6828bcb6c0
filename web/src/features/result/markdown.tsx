import type { ReactNode } from 'react'
import Markdown, { type Components } from 'react-markdown'
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'

import { useTranslation } from '~/i18n'
import { cn } from '~/kit/cn'
import { ScrollBox } from '~/kit/scroll-box'
import { safeLink } from './words'

/** Text of a tool: formatted, without HTML, without pictures from elsewhere. Heavy: import it lazily. */
const schema = {
  ...defaultSchema,
  tagNames: defaultSchema.tagNames?.filter((name) => name !== 'img' && name !== 'input'),
}

interface Props {
  text: string
  /** How parts of it are shown that a page shows in its own way. */
  components?: Components
  /** Where a link leads; none makes it plain text. Tools lead to other sites alone. */
  linkTo?: (address: string) => string | undefined
  className?: string
}

export default function ToolMarkdown({ text, components, linkTo = safeLink, className }: Props) {
  return (
    <div
      className={cn(
        'prose prose-sm max-w-none min-w-0 break-words text-text dark:prose-invert prose-table:my-0',
        className,
      )}
    >
      <Markdown
        remarkPlugins={[remarkGfm]}
        rehypePlugins={[[rehypeSanitize, schema]]}
        urlTransform={(address) => linkTo(address) ?? ''}
        components={{ ...OF_TOOLS, ...components }}
      >
        {text}
      </Markdown>
    </div>
  )
}

const OF_TOOLS: Components = {
  a: ({ href, children }) =>
    href ? (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  table: Table,
  pre: ({ children }) => (
    <pre tabIndex={0} className="overflow-x-auto">
      {children}
    </pre>
  ),
  // The page has its own headings; those of a text stand below all of them.
  h1: ({ children }) => <p className="text-base font-semibold">{children}</p>,
  h2: ({ children }) => <p className="text-base font-semibold">{children}</p>,
  h3: ({ children }) => <p className="font-semibold">{children}</p>,
  h4: ({ children }) => <p className="font-semibold">{children}</p>,
  h5: ({ children }) => <p className="font-semibold">{children}</p>,
  h6: ({ children }) => <p className="font-semibold">{children}</p>,
}

function Table({ children }: { children?: ReactNode }) {
  const { t } = useTranslation('result')
  return (
    <ScrollBox label={t('table')} role="group" className="my-4 px-3">
      <table className="my-0">{children}</table>
    </ScrollBox>
  )
}
