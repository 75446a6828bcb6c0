import { type FormEvent, useState } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { toast } from '~/kit/toast'
import { focusSoon } from '../focus-soon'
import { LeaveGuard } from './leave-guard'
import { blank, isTyped, payloadOf, typeOf } from './payload'
import { faultsOfRows, idAt, isShown, PayloadFields } from './payload-fields'
import { change, type Marked } from './queries'
import { Refusal } from './refusal'
import { useSending } from './use-sending'

interface Props {
  base: Marked
  onSaved: (saved: Marked) => void
  onReload: () => void
}

const ACT = 'credential-replace'

/** Puts something else into a credential. What is in it now is not shown, and goes as a whole. */
export function ReplaceForm({ base, onSaved, onReload }: Props) {
  const { t } = useTranslation('credentials')
  const [typed, setTyped] = useState(() => blank(typeOf(base.credential.type)))
  // How often it was saved: what was shown is hidden again.
  const [saves, setSaves] = useState(0)
  const payload = payloadOf(typed)
  const sending = useSending({
    valueAt: (path) =>
      path.startsWith('/payload/') ? payload[path.slice('/payload/'.length)] : undefined,
    idAt: (path) => idAt(path, typed),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const own = faultsOfRows(typed)
    if (own.length > 0) {
      return sending.refuse(own.map(({ path, rule }) => ({ path, message: t(`fault.${rule}`) })))
    }
    void sending.send(async () => {
      const saved = await change(base, { type: typed.type, payload })
      setTyped(blank(typed.type))
      setSaves((before) => before + 1)
      onSaved(saved)
      // Whoever sent it by Enter had the focus in a field that has just made room for an empty one.
      focusSoon(ACT)
      toast(t('replace.done', { label: saved.credential.label }))
    })
  }
  return (
    <form onSubmit={submit} autoComplete="off" noValidate className="grid min-w-0 gap-4">
      <PayloadFields key={saves} typed={typed} sending={sending} onChange={setTyped} />
      <Refusal
        sending={sending}
        isPlaced={(path) => isShown(path, typed)}
        onReload={() => {
          sending.forget()
          onReload()
        }}
      />
      <div className="flex justify-end">
        <Button id={ACT} type="submit" tone="primary" disabled={sending.busy}>
          {t('replace.act')}
        </Button>
      </div>
      <LeaveGuard isDirty={isTyped(typed)} />
    </form>
  )
}
