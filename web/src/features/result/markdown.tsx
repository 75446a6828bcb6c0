import Markdown from 'react-markdown'
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'

import { safeLink } from './words'

/** Text of a tool: formatted, without HTML, without pictures from elsewhere. Heavy: import it lazily. */
const schema = {
  ...defaultSchema,
  tagNames: defaultSchema.tagNames?.filter((name) => name !== 'img' && name !== 'input'),
}

export default function ToolMarkdown({ text }: { text: string }) {
  return (
    <div className="prose prose-sm max-w-none min-w-0 overflow-x-auto break-words text-text dark:prose-invert">
      <Markdown
        remarkPlugins={[remarkGfm]}
        rehypePlugins={[[rehypeSanitize, schema]]}
        urlTransform={(address) => safeLink(address) ?? ''}
        components={{
          a: ({ href, children }) =>
            href ? (
              <a href={href} target="_blank" rel="noopener noreferrer nofollow">
                {children}
              </a>
            ) : (
              <span>{children}</span>
            ),
          // The page has its own headings; those of a text stand below all of them.
          h1: ({ children }) => <p className="text-base font-semibold">{children}</p>,
          h2: ({ children }) => <p className="text-base font-semibold">{children}</p>,
          h3: ({ children }) => <p className="font-semibold">{children}</p>,
          h4: ({ children }) => <p className="font-semibold">{children}</p>,
          h5: ({ children }) => <p className="font-semibold">{children}</p>,
          h6: ({ children }) => <p className="font-semibold">{children}</p>,
        }}
      >
        {text}
      </Markdown>
    </div>
  )
}
