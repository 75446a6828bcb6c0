import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'

import { renderInEditor } from '../in-editor'
import ArtifactPanel from './artifact'

test('the language is chosen beside the source', async () => {
  const user = userEvent.setup()
  const source = 'export default () => {\n  return 1 +\n}\n'
  const saved = {
    implementation_type: 'artifact',
    implementation: { language: 'javascript', source },
  }
  const { now } = renderInEditor(<ArtifactPanel />, saved)
  const text = await screen.findByRole('textbox', { name: 'Source' })
  expect(text).toHaveTextContent('return 1 +')
  await user.selectOptions(screen.getByLabelText('Language'), 'TypeScript')
  expect(now().definition.implementation).toEqual({ language: 'typescript', source })
  expect(now().isDirty).toBe(true)
})
