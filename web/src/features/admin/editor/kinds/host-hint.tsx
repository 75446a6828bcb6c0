import { useState } from 'react'

import { queryClient } from '~/api/client'
import { useMay } from '~/api/me'
import { useTranslation } from '~/i18n'
import { errorWords } from '~/i18n/server-words'
import { Button } from '~/kit/button'
import { toast } from '~/kit/toast'
import { plainHost } from '../../credentials/hosts'
import {
  type Credential,
  change,
  credentials,
  credentialUsersOf,
  current,
} from '../../credentials/queries'
import { focusSoon } from '../../focus-soon'
import { useEditing, useInside } from '../context'

interface Props {
  credential: Credential
  /** The control that has the focus once the offer is taken, and gone. */
  returnTo: string
}

/** Offers to send a credential to the host of this tool alone, while it may be sent to every host. */
export function HostHint({ credential, returnTo }: Props) {
  const { t } = useTranslation('kinds')
  const mayWrite = useMay('credentials.tenant.write')
  const { slug } = useEditing().definition
  const url = useInside('implementation', ['url']).value
  const serverUrl = useInside('implementation', ['server_url']).value
  const host = plainHost(url ?? serverUrl)
  // The other tools that use it, once somebody wants to bind it: they may call another host.
  const [others, setOthers] = useState<string[]>([])
  const [busy, setBusy] = useState(false)
  if (!host || credential.allowed_hosts) return null
  const { id, label } = credential

  const bind = async () => {
    setBusy(true)
    try {
      if (others.length === 0) {
        const users = await queryClient.fetchQuery({ ...credentialUsersOf(id), staleTime: 0 })
        const found = users.filter((user) => user.slug !== slug)
        if (found.length > 0) return setOthers(found.map((user) => user.name || user.slug))
      }
      const now = await current(id)
      // Somebody may have bound it in the meantime, and knows better.
      if (now.credential.allowed_hosts) {
        await queryClient.invalidateQueries({ queryKey: credentials.queryKey })
        return
      }
      await change(now, { allowed_hosts: [host] })
      focusSoon(returnTo)
      toast(t('host_bound', { label, host }))
    } catch (error) {
      toast(errorWords(error), 'bad')
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted">
      <p role="status" className="min-w-0 break-words">
        {others.length > 0
          ? t('host_others', { tools: others.join(', '), host })
          : t('host_any', { label })}
      </p>
      {mayWrite && (
        <Button
          size="small"
          className="h-auto min-h-8 break-all whitespace-normal"
          disabled={busy}
          onClick={() => void bind()}
        >
          {t(others.length > 0 ? 'host_bind_anyway' : 'host_bind', { host })}
        </Button>
      )}
    </div>
  )
}
