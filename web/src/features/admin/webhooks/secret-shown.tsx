import { useTranslation } from '~/i18n'

import { CodeBlock } from '~/kit/code-block'
import { CopyButton } from '~/kit/copy'

/** What the receiver does with the secret. Node.js alone, so it runs as it stands. */
const snippet = (secret: string) => `import { createHmac, timingSafeEqual } from 'node:crypto'

const secret = '${secret}'

// headers: of the request, in lower case; body: its text as it came
export function verify(headers, body) {
  const id = headers['webhook-id']
  const time = headers['webhook-timestamp']
  if (!(Math.abs(Date.now() / 1000 - time) < 300)) return false
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const mac = createHmac('sha256', key).update(\`\${id}.\${time}.\${body}\`).digest()
  return headers['webhook-signature'].split(' ').some((one) => {
    const sent = Buffer.from(one.slice('v1,'.length), 'base64')
    return sent.length === mac.length && timingSafeEqual(sent, mac)
  })
}
`

/** A secret, this once, with the code that uses it. */
export function SecretShown({ secret }: { secret: string }) {
  const { t } = useTranslation('webhooks')
  return (
    <div className="grid min-w-0 gap-4">
      <p>{t('secret_once')}</p>
      <div className="flex min-w-0 items-center gap-2 rounded-lg border border-line bg-raised p-3">
        <code data-testid="secret" className="min-w-0 flex-1 text-xs break-all">
          {secret}
        </code>
        <CopyButton text={secret} name={t('copy_secret')} />
      </div>
      <div className="grid min-w-0 gap-1.5">
        <p className="font-medium">{t('verify')}</p>
        <CodeBlock text={snippet(secret)} label={t('verify')} className="max-h-64" />
        <p className="text-xs text-muted">{t('verify_hint')}</p>
      </div>
    </div>
  )
}
