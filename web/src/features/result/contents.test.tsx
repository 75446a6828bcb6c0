import { render, screen } from '@testing-library/react'

import { bytesOf, imageOf, parted } from './contents'
import { RunResult } from './run-result'

const DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image = { type: 'image', data: DOT, mimeType: 'image/png' }
const text = { type: 'text', text: 'a dot' }

afterEach(() => vi.unstubAllGlobals())

test('blocks stand apart from the data, and what only looks like them does not', () => {
  const output = { text: 'a dot', mcp_content: [text, image] }
  expect(parted(output)).toEqual({ data: { text: 'a dot' }, blocks: [image] })
  for (const other of ['text', [image], { mcp_content: 7 }, { mcp_content: ['x'] }, { a: image }]) {
    expect(parted(other)).toEqual({ data: other, blocks: [] })
  }
})

test('only a picture of bytes is drawn', () => {
  expect(imageOf({ ...image, mimeType: 'IMAGE/PNG' })).toEqual({ data: DOT, type: 'image/png' })
  for (const other of [
    { ...image, mimeType: 'image/svg+xml' },
    { ...image, mimeType: 'text/html' },
    { ...image, type: 'audio' },
    { ...image, data: 7 },
    { ...image, data: 'A'.repeat(8_000_001) },
  ]) {
    expect(imageOf(other)).toBeUndefined()
  }
  expect(bytesOf({ data: DOT, type: 'image/png' }).type).toBe('image/png')
})

test('picture of a result is drawn, and one that is broken is shown as it came', async () => {
  const drawImage = vi.fn()
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue({ drawImage } as never)
  const bitmap = { width: 4, height: 3, close: vi.fn() }
  vi.stubGlobal('createImageBitmap', vi.fn().mockResolvedValue(bitmap))
  const output = {
    text: 'a dot',
    mcp_content: [
      text,
      image,
      { type: 'resource_link', uri: 'https://example.com/dot', name: 'dot' },
      { type: 'resource_link', uri: 'javascript:alert(1)', name: 'bad' },
    ],
  }
  const { unmount } = render(<RunResult run={{ status: 'success', output }} />)
  const drawn = await screen.findByRole('img', { name: 'Content 1' })
  await vi.waitFor(() => expect(drawImage).toHaveBeenCalledWith(bitmap, 0, 0))
  expect(drawn).toHaveAttribute('width', '4')
  expect(screen.getByText('a dot')).toBeVisible()
  expect(screen.getAllByRole('link').map((link) => link.getAttribute('href'))).toEqual([
    'https://example.com/dot',
  ])
  expect(document.body).not.toHaveTextContent(DOT)
  expect(document.querySelector('img')).toBeNull()
  unmount()

  vi.stubGlobal('createImageBitmap', vi.fn().mockRejectedValue(new Error('no picture')))
  render(<RunResult run={{ status: 'success', output }} />)
  await vi.waitFor(() => expect(screen.getByLabelText('Content 1')).toHaveTextContent(DOT))
})
