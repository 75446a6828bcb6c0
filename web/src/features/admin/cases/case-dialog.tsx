import { useState } from 'react'

import type { Fault as FaultAt } from '~/api/problem'
import { InputForm } from '~/features/form/input-form'
import { useTranslation } from '~/i18n'
import { useFaultsOf } from '~/i18n/server-words'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { Field, Input } from '~/kit/field'
import { Fault } from '~/kit/states'
import { toast } from '~/kit/toast'
import type { Tool } from '../types'
import { type Part, readExpectation, typedOf } from './expect'
import { ExpectFields } from './expect-fields'
import { type SentCase, type TestCase, useSaveCase } from './queries'

interface Props {
  tool: Pick<Tool, 'slug' | 'input_schema' | 'form_spec'>
  /** The case that is changed; a new one without an id. */
  of: SentCase & { id?: string }
  onClose: () => void
  onSaved?: (saved: TestCase) => void
}

/** Makes a test case, or changes one: what the tool is called with, and what has to come of it. */
export function CaseDialog({ tool, of, onClose, onSaved }: Props) {
  const { t } = useTranslation('cases')
  const [name, setName] = useState(of.name)
  const [input, setInput] = useState(of.input)
  const [typed, setTyped] = useState(() => typedOf(of.expect))
  // What is wrong is told when somebody wants to save it, and from then on as they type.
  const [isTried, setTried] = useState(false)
  const save = useSaveCase(tool.slug, of.id)
  const faults = useFaultsOf(save.error)
  const { expect, broken } = readExpectation(typed)
  const at = (path: string) => faults.find((fault) => fault.path === path)?.message
  const faultOf = (part: Part) =>
    isTried && broken.includes(part) ? t('not_json') : at(`/expect/${part}`)
  const nameFault = isTried && name.trim() === '' ? t('name_missing') : at('/name')
  const send = () => {
    setTried(true)
    if (broken.length > 0 || name.trim() === '' || save.isPending) return
    const sent = { name: name.trim(), input, expect }
    save.mutate(sent, {
      onSuccess: (saved) => {
        if (onSaved) onSaved(saved)
        else toast(t('saved', { name: saved.name }))
        onClose()
      },
    })
  }
  return (
    <Dialog
      open
      as="drawer"
      title={t(of.id ? 'edit' : 'add')}
      description={t('dialog_hint')}
      onClose={onClose}
    >
      <div className="grid min-w-0 gap-6">
        <Field id="case-name" label={t('name')} fault={nameFault}>
          <Input
            id="case-name"
            data-first
            maxLength={200}
            value={name}
            aria-invalid={nameFault !== undefined}
            aria-describedby={nameFault ? 'case-name-fault' : undefined}
            onChange={(event) => setName(event.target.value)}
            onKeyDown={(event) => event.key === 'Enter' && send()}
          />
        </Field>
        <section aria-labelledby="case-input" className="grid min-w-0 gap-3">
          <h3 id="case-input" className="font-semibold">
            {t('input')}
          </h3>
          <InputForm
            tool={tool}
            value={input}
            onChange={setInput}
            faults={faults.filter(isOfInput).map(inForm)}
          />
        </section>
        <ExpectFields
          typed={typed}
          faultOf={faultOf}
          onChange={(part, text) => setTyped((now) => ({ ...now, [part]: text }))}
        />
        {save.error && faults.length === 0 && <Fault error={save.error} />}
        <div className="sticky -bottom-5 -mx-5 -mb-5 flex flex-wrap justify-end gap-2 border-t border-line bg-ground px-5 py-3">
          <Button onClick={onClose}>{t('cancel', { ns: 'app' })}</Button>
          <Button tone="primary" disabled={save.isPending} onClick={send}>
            {t('save')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

const IN_INPUT = '/input'

function isOfInput({ path }: FaultAt): boolean {
  return path === IN_INPUT || path.startsWith(`${IN_INPUT}/`)
}

function inForm(fault: FaultAt): FaultAt {
  return { ...fault, path: fault.path.slice(IN_INPUT.length) }
}
