import { useTranslation } from '~/i18n'
import { useInside } from '../context'
import { TextInside } from './controls'
import { PairRows } from './pair-rows'

/** A tool of somebody else's MCP server, which has an address here or a name in this organisation. */
export default function McpPanel() {
  const { t } = useTranslation('kinds')
  const { value: server } = useInside('implementation', ['server'])
  const { value: url } = useInside('implementation', ['server_url'])
  const { value: headers } = useInside('implementation', ['headers'])
  const isNamed = server !== undefined
  return (
    <>
      {(!isNamed || url !== undefined) && (
        <TextInside
          of="implementation"
          at={['server_url']}
          label={t('server_url')}
          hint={t('server_url_hint')}
          placeholder="https://mcp.example.com/mcp"
        />
      )}
      {(isNamed || url === undefined) && (
        <TextInside
          of="implementation"
          at={['server']}
          label={t('server')}
          hint={t('server_hint')}
          placeholder="garden"
        />
      )}
      <TextInside
        of="implementation"
        at={['tool_name']}
        label={t('tool_name')}
        hint={t('tool_name_hint')}
        placeholder="add"
      />
      {(!isNamed || headers !== undefined) && <PairRows name="headers" isFixedText />}
    </>
  )
}
