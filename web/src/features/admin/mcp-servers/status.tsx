import { useTranslation } from '~/i18n'
import { Badge, type Tone } from '~/kit/badge'

const TONES: Record<string, Tone> = {
  ready: 'good',
  unauthorized: 'warn',
  unreachable: 'bad',
  failed: 'bad',
  signed_in: 'good',
  over: 'warn',
  new: 'plain',
  imported: 'good',
  held: 'warn',
  pending: 'warn',
  accepted: 'good',
  rejected: 'bad',
}

/** The state of a server, of one of its tools, or of a change. */
export function Status({ status }: { status: string }) {
  const { t } = useTranslation('mcp-servers')
  return <Badge tone={TONES[status] ?? 'plain'}>{t(`status.${status}`)}</Badge>
}
