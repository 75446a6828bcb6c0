import { useTranslation } from '~/i18n'
import { useEditing } from '../editor/context'
import { JsonPart } from '../editor/json-part'
import { FormPart } from './form-part'
import { ResultPart } from './result-part'

/** How the form and the result are laid out: as a form, or as the JSON that it makes. */
export default function LayoutSide({ asJson }: { asJson: boolean }) {
  const { t } = useTranslation('admin')
  const { unread, definition } = useEditing()
  const showsForm = !asJson && unread['/form_spec'] === undefined
  const showsResult = !asJson && unread['/output_sections'] === undefined
  return (
    <div className="grid min-w-0 gap-6">
      <p className="text-muted">{t('schema.layout_hint')}</p>
      {showsForm ? (
        <FormPart />
      ) : (
        <JsonPart
          name="form_spec"
          label={t('schema.form_spec')}
          hint={t('layout.form_json')}
          canBeNull
        />
      )}
      {showsResult ? (
        <ResultPart />
      ) : (
        <JsonPart
          name="output_sections"
          label={t('schema.output_sections')}
          hint={t('layout.sections_json')}
        />
      )}
      {(asJson || definition.view_spec !== null || unread['/view_spec'] !== undefined) && (
        <JsonPart
          name="view_spec"
          label={t('schema.view_spec')}
          hint={t('layout.view_json')}
          canBeNull
        />
      )}
    </div>
  )
}
