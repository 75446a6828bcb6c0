import Markdown from 'react-markdown'
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize'
import { useTranslation } from 'react-i18next'
import remarkGfm from 'remark-gfm'

import { ScrollBox } from '~/kit/scroll-box'
import { safeLink } from './words'

/** Text of a tool: formatted, without HTML, without pictures from elsewhere. Heavy: import it lazily. */
const schema = {
  ...defaultSchema,
  tagNames: defaultSchema.tagNames?.filter((name) => name !== 'img' && name !== 'input'),
}

export default function ToolMarkdown({ text }: { text: string }) {
  const { t } = useTranslation('result')
  return (
    <div className="prose prose-sm max-w-none min-w-0 break-words text-text dark:prose-invert">
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
          table: ({ children }) => (
            <ScrollBox label={t('table')} role="group" className="my-4 px-3">
              <table className="my-0">{children}</table>
            </ScrollBox>
          ),
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
        }}
      >
        {text}
      </Markdown>
    </div>
  )
}
