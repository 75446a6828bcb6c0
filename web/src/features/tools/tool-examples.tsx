import { Link2, Sparkles } from 'lucide-react'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'

import { stringify } from '~/api/exact'
import { Button } from '~/kit/button'
import { CopyButton } from '~/kit/copy'
import type { Tool } from './queries'
import { examples, LINK_MAX, linkTo } from './tool-input'

interface Props {
  tool: Tool
  value: unknown
  onChoose: (input: unknown) => void
}

/** Inputs to start from, and a link to the one in the form. */
export function ToolExamples({ tool, value, onChoose }: Props) {
  const { t } = useTranslation('tool')
  const found = useMemo(() => examples(tool.input_schema), [tool.input_schema])
  const link = linkTo(location.origin, tool.slug, value)
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-2">
      {found.map(({ label, input }, index) => (
        <Button
          key={index}
          size="small"
          className="max-w-full rounded-full font-normal"
          title={stringify(input)}
          onClick={() => onChoose(input)}
        >
          <Sparkles aria-hidden />
          <span className="min-w-0 truncate">
            <span className={label ? 'sr-only' : ''}>
              {t('example', { number: index + 1 })}
              {label && ': '}
            </span>
            {label}
          </span>
        </Button>
      ))}
      {link.length <= LINK_MAX ? (
        <CopyButton text={link} label={t('copy_link')} />
      ) : (
        <Button size="small" disabled title={t('link_too_long')}>
          <Link2 aria-hidden />
          {t('copy_link')}
        </Button>
      )}
    </div>
  )
}
