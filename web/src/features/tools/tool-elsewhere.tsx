import { useDeferredValue, useId, useMemo, useState } from 'react'

import { useTranslation } from '~/i18n'
import { CopyButton } from '~/kit/copy'
import { Select } from '~/kit/field'
import { KEY, SNIPPET_NAMES, SNIPPETS, type SnippetName } from './tool-snippets'

/** So much of it is drawn; copying takes all of it. */
const SHOWN = 10_000

/** The same call from a program, with the input as it stands in the form. */
export function ToolElsewhere({ slug, input }: { slug: string; input: unknown }) {
  const { t } = useTranslation('tool')
  const id = useId()
  const [name, setName] = useState<SnippetName>('curl')
  // Typing goes before: the snippet may be a moment behind.
  const given = useDeferredValue(input)
  const text = useMemo(
    () => SNIPPETS[name]({ origin: location.origin, slug, input: given }),
    [name, slug, given],
  )
  return (
    <section
      aria-labelledby="elsewhere"
      className="grid min-w-0 grid-cols-[minmax(0,1fr)] content-start gap-3"
    >
      <h2 id="elsewhere" className="text-base font-semibold">
        {t('elsewhere')}
      </h2>
      <div className="flex flex-wrap items-center gap-2">
        <label htmlFor={id} className="sr-only">
          {t('snippet_for')}
        </label>
        <Select
          id={id}
          className="w-auto"
          value={name}
          onChange={(event) => setName(event.target.value as SnippetName)}
        >
          {SNIPPET_NAMES.map((name) => (
            <option key={name} value={name}>
              {t(`snippet.${name}`)}
            </option>
          ))}
        </Select>
        <CopyButton text={text} label={t('copy_snippet')} />
      </div>
      <pre
        tabIndex={0}
        aria-label={t(`snippet.${name}`)}
        className="max-h-80 min-w-0 overflow-auto rounded-md border border-line bg-raised p-3 font-mono text-xs"
      >
        {text.slice(0, SHOWN)}
      </pre>
      {text.length > SHOWN && <p className="text-xs text-muted">{t('snippet_cut')}</p>}
      <p className="text-xs text-muted">{t('snippet_key', { key: KEY })}</p>
    </section>
  )
}
