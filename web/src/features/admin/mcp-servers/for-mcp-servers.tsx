import type { ReactNode } from 'react'

import { useMay } from '~/api/me'
import { useTranslation } from '~/i18n'
import { NotYours } from '../for-authors'

/** Pages for those who may see MCP servers. Others came by a link, and are told so. */
export function ForMcpServers({ children }: { children: ReactNode }) {
  const { t } = useTranslation('mcp-servers')
  if (useMay('mcp_servers.tenant.read')) return children
  return <NotYours heading={t('title')} title={t('not_yours')} hint={t('not_yours_hint')} />
}
