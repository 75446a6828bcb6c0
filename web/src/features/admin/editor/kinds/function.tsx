import { useTranslation } from 'react-i18next'

import { TextInside } from './controls'

/** A function of the program. Which there are is the server's to say. */
export default function FunctionPanel() {
  const { t } = useTranslation('kinds')
  return (
    <TextInside
      of="implementation"
      at={['function_name']}
      label={t('function_name')}
      hint={t('function_hint')}
    />
  )
}
