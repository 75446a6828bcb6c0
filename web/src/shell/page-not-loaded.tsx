import { CloudOff } from 'lucide-react'
import { useEffect, useState } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { deployedScript, takeNewVersion } from '~/kit/not-loaded'
import { useServerBack } from '~/kit/server-back'

/**
 * A page whose files did not come. Browsers remember a script that failed, so another try is a reload; but only
 * once the server answers, or the browser's own error would take the place of the app. A server that was away is asked
 * until it does.
 */
export function PageNotLoaded() {
  const { t } = useTranslation()
  const [isAway, setAway] = useState(false)
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    deployedScript().then(
      (script) => takeNewVersion(script) && location.reload(),
      () => setAway(true),
    )
  }, [])
  useServerBack(isAway, () => location.reload())
  const again = async () => {
    setBusy(true)
    try {
      await deployedScript()
      location.reload()
    } catch {
      setAway(true)
      setBusy(false)
    }
  }
  return (
    <div role="alert" className="grid justify-items-center gap-4 py-12 text-center">
      <CloudOff aria-hidden className="size-8 text-muted" />
      <h1 className="text-xl font-semibold">{t('not_loaded')}</h1>
      <p className="max-w-prose text-muted">{t(isAway ? 'not_loaded_away' : 'not_loaded_hint')}</p>
      <Button tone="primary" disabled={busy} onClick={() => void again()}>
        {t('try_again')}
      </Button>
    </div>
  )
}
