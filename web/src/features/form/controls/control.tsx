import { useTranslation } from '~/i18n'
import { AnyControl, JsonControl } from './any'
import {
  BooleanControl,
  CheckboxesControl,
  ConstControl,
  Fixed,
  options,
  RadioControl,
  SelectControl,
  YesNoControl,
} from './choose'
import { FileControl } from './file'
import { choices, type Kind } from './kind'
import { MultiSelectControl } from './multi-select'
import { NumberControl, SliderControl } from './number'
import { type ControlProps, shown } from './props'
import { RatingControl } from './rating'
import { TagsControl } from './tags'
import { PasswordControl, TextareaControl, TextControl } from './text'
import { DateControl, DateTimeControl, TimeControl } from './time'

/** Who only reads sees these as they are, and not in the browser's words. */
const EXACT: Kind[] = ['const', 'date', 'date-time', 'time', 'slider', 'rating']

/** The control for one part of the value. */
export function Control({ kind, root, ...props }: ControlProps & { kind: Kind; root: unknown }) {
  const { t } = useTranslation('form')
  if (props.readOnly && EXACT.includes(kind)) return <Fixed {...props} text={shown(props.value)} />
  switch (kind) {
    case 'boolean':
      return <BooleanControl {...props} />
    case 'checkboxes': {
      const [entries = [], labels = []] = choices(props.schema, root)
      return <CheckboxesControl {...props} entries={options(entries, labels)} />
    }
    case 'multi-select': {
      const [entries = [], labels = []] = choices(props.schema, root)
      return <MultiSelectControl {...props} entries={options(entries, labels)} />
    }
    case 'const':
      return <ConstControl {...props} />
    case 'null':
      return <Fixed {...props} text={t('nothing')} />
    case 'date':
      return <DateControl {...props} />
    case 'date-time':
      return <DateTimeControl {...props} />
    case 'time':
      return <TimeControl {...props} />
    case 'file':
      return <FileControl {...props} />
    case 'number':
      return <NumberControl {...props} />
    case 'slider':
      return <SliderControl {...props} />
    case 'password':
      return <PasswordControl {...props} />
    case 'radio':
      return <RadioControl {...props} />
    case 'rating':
      return <RatingControl {...props} />
    case 'select':
      return <SelectControl {...props} />
    case 'tags':
      return <TagsControl {...props} />
    case 'text':
      return <TextControl {...props} />
    case 'textarea':
      return <TextareaControl {...props} />
    case 'any':
      return <AnyControl {...props} />
    case 'yes-no':
      return <YesNoControl {...props} />
    default:
      return <JsonControl {...props} />
  }
}
