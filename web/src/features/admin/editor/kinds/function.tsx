import { useTranslation } from '~/i18n'
import { TemplatePicker } from './template-picker'

/** A function of the program. */
export default function FunctionPanel() {
  const { t } = useTranslation('kinds')
  return (
    <TemplatePicker
      name="function_name"
      label={t('function_name')}
      none={t('function_none')}
      noneHint={t('function_hint')}
      unknownHint={t('function_unknown')}
      takeForm={t('take_form_function')}
    />
  )
}
