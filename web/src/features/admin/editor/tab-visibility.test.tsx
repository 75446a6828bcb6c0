import { screen } from '@testing-library/react'

import { BLANK, bodyOf } from './definition'
import { renderInEditor } from './in-editor'
import { VisibilityTab } from './tab-visibility'

test('only what the server acts on can be switched', () => {
  renderInEditor(<VisibilityTab />, { status: 'published' })
  const names = (role: string) => screen.getAllByRole(role).map((one) => one.id)
  expect(names('switch')).toEqual(['part-enabled', 'part-is_active'])
  expect(names('combobox')).toEqual([
    'part-permission_level',
    'part-permission_policy',
    'part-status',
  ])
})

test('what the editor does not show is the server’s to say', () => {
  expect(bodyOf(BLANK)).not.toHaveProperty('collaborative')
  expect(bodyOf(BLANK)).not.toHaveProperty('visible')
})
