import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Check } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { lazy, type ReactNode, Suspense, useState } from 'react'

import { api } from '~/api/client'
import { chooseLanguage, useMe } from '~/api/me'
import { LANGUAGES, type Language, loadTexts, useTranslation } from '~/i18n'
import { errorWords } from '~/i18n/server-words'
import { toast } from '~/kit/toast'
import { showTheme } from '~/theme'
import { AccountButton } from './account'

const PasswordDialog = lazy(async () => {
  const [module] = await Promise.all([
    import('~/features/sign-in/password-dialog'),
    loadTexts(['sign-in']),
  ])
  return module
})

const NAMES = { en: 'English', de: 'Deutsch' }

export default function AccountMenu() {
  const { t, language } = useTranslation()
  const me = useMe()
  const [isSettingPassword, setSettingPassword] = useState(false)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const signOut = async () => {
    try {
      await api.POST('/api/auth/logout')
      queries.clear()
      await navigate({ to: '/sign-in', search: {} })
    } catch (error) {
      toast(errorWords(error), 'bad')
    }
  }
  const switchTo = async (tenant: string) => {
    try {
      await api.POST('/api/auth/switch', { body: { tenant } })
      // Nothing of the other tenant may stay on the screen.
      queries.clear()
      await navigate({ to: '/tools', search: {}, reloadDocument: true })
    } catch (error) {
      toast(errorWords(error), 'bad')
    }
  }
  const speak = async (wanted: Language) => {
    try {
      await chooseLanguage(wanted)
    } catch (error) {
      toast(errorWords(error), 'bad')
    }
  }
  const theme = localStorage.getItem('theme') ?? 'system'
  return (
    <>
      {/* It is loaded when somebody wants it open. It stands in the header and hides nothing from screen readers. */}
      <DropdownMenu.Root defaultOpen modal={false}>
        <DropdownMenu.Trigger asChild>
          <AccountButton />
        </DropdownMenu.Trigger>
        <DropdownMenu.Content
          align="end"
          className="z-50 grid min-w-56 rounded-md border border-line bg-ground p-1 shadow-lg"
        >
          <p className="px-2 py-1.5 font-medium">{me.principal.display_name}</p>
          <Group label={t('nav.tenant')}>
            {me.tenants.map(({ id, slug, name }) => (
              <Item key={id} chosen={id === me.tenant.id} onSelect={() => switchTo(slug)}>
                {name || slug}
              </Item>
            ))}
          </Group>
          <Group label={t('nav.theme')}>
            {(['light', 'dark', 'system'] as const).map((name) => (
              <Item key={name} chosen={name === theme} onSelect={() => showTheme(name)}>
                {t(`nav.theme_${name}`)}
              </Item>
            ))}
          </Group>
          <Group label={t('nav.language')}>
            {LANGUAGES.map((one) => (
              <Item key={one} chosen={one === language} onSelect={() => speak(one)}>
                {NAMES[one]}
              </Item>
            ))}
          </Group>
          <DropdownMenu.Separator className="my-1 h-px bg-line" />
          {me.source === 'web' && (
            <DropdownMenu.Item className={item} onSelect={() => setSettingPassword(true)}>
              {t('nav.set_password')}
            </DropdownMenu.Item>
          )}
          <DropdownMenu.Item asChild className={item}>
            <Link to="/docs">{t('nav.docs')}</Link>
          </DropdownMenu.Item>
          <DropdownMenu.Item asChild className={item}>
            <Link to="/docs/api">{t('nav.api_docs')}</Link>
          </DropdownMenu.Item>
          <DropdownMenu.Item className={item} onSelect={signOut}>
            {t('nav.sign_out')}
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Root>
      {isSettingPassword && (
        <Suspense>
          <PasswordDialog onClose={() => setSettingPassword(false)} />
        </Suspense>
      )}
    </>
  )
}

const item =
  'flex items-center justify-between gap-4 rounded px-2 py-1.5 outline-none data-highlighted:bg-raised'

function Group({ label, children }: { label: string; children: ReactNode }) {
  return (
    <DropdownMenu.Group>
      <DropdownMenu.Label className="px-2 pt-2 text-xs text-muted">{label}</DropdownMenu.Label>
      {children}
    </DropdownMenu.Group>
  )
}

interface ItemProps {
  chosen: boolean
  onSelect: () => void
  children: ReactNode
}

function Item({ chosen, onSelect, children }: ItemProps) {
  return (
    <DropdownMenu.CheckboxItem
      className={item}
      checked={chosen}
      onSelect={() => !chosen && onSelect()}
    >
      {children}
      <DropdownMenu.ItemIndicator>
        <Check aria-hidden className="size-4 text-accent" />
      </DropdownMenu.ItemIndicator>
    </DropdownMenu.CheckboxItem>
  )
}
