import { useMemo } from 'react'

import { useTranslation } from '~/i18n'
import { BlockView, Formatted } from './block'
import { blocks, rest, type Shown } from './blocks'
import { Hints } from './hints'
import { isObject, type Json } from './json'
import { table } from './rows'
import { Section } from './section'
import { Value } from './value'

interface Props {
  output: unknown
  markdown?: string | null
  tool?: Shown
}

/** An output: by the view of its tool, by its sections, by its markdown, else by its own shape. */
export function Output({ output, markdown, tool }: Props) {
  const { t } = useTranslation('result')
  const parts = useMemo(() => {
    const wanted = blocks(tool, output)
    return wanted.length > 0 ? [...wanted, ...rest(tool, output)] : []
  }, [tool, output])
  const hints = useMemo(() => new Hints(tool?.output_schema), [tool])
  if (parts.length > 0) {
    return parts.map((block, index) => <BlockView key={index} block={block} />)
  }
  const found = isObject(output) ? undefined : table(output as Json)
  return (
    <>
      {markdown && <Formatted text={markdown} />}
      <Section label={t('output')} value={output as Json} table={found}>
        <Value value={output as Json} hints={hints} />
      </Section>
    </>
  )
}
