import { Outlet, useMatches } from '@tanstack/react-router'

import { useTranslation } from '~/i18n'
import { useTitle } from '~/kit/title'

/** Every page, and its name in the title of the window. */
export function Titled() {
  const { t } = useTranslation()
  const title = useMatches({ select: (matches) => matches.at(-1)?.staticData.title })
  useTitle(title && t(`title.${title}`))
  return <Outlet />
}
