import { Link } from '@tanstack/react-router'

import { ForCredentials } from '~/features/admin/credentials/for-credentials'
import { NewForm } from '~/features/admin/credentials/new-form'
import { useTranslation } from '~/i18n'

export default function CredentialNewPage() {
  const { t } = useTranslation('credentials')
  return (
    <ForCredentials to="write">
      <div className="grid min-w-0 gap-5">
        <div className="grid gap-1">
          <Link
            to="/admin/credentials"
            search={{}}
            className="justify-self-start text-xs text-muted hover:underline"
          >
            {t('title')}
          </Link>
          <h1 className="text-xl font-semibold">{t('new')}</h1>
          <p className="max-w-prose text-muted">{t('new_hint')}</p>
        </div>
        <NewForm />
      </div>
    </ForCredentials>
  )
}
