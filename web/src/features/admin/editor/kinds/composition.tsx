import { Plus } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { focusSoon } from '../../focus-soon'
import { useEditing, useInside } from '../context'
import { reordered } from '../inside'
import { useCallees } from './callees'
import { CompositionPicture } from './composition-picture'
import { Expressions, useInputs } from './controls'
import { StepCard } from './step-card'
import {
  type ChainStep,
  expressionsAt,
  inOrder,
  newStep,
  orderMoved,
  orderWithout,
  sourcesAt,
  stepsOf,
  toolOfStep,
} from './steps'
import { ValueRows } from './value-rows'

const LIST = '/execution_spec/steps'

/** Other tools, one after the other. */
export default function CompositionPanel() {
  const { t } = useTranslation('kinds')
  const { definition, changeAt, faults, setUnread, setAside, isOverride } = useEditing()
  const { id } = useInside('execution_spec', ['steps'])
  const inputs = useInputs()
  const steps = stepsOf(definition.execution_spec)
  const callees = useCallees(steps.map(toolOfStep))
  const outputOf = (step: ChainStep) => {
    const callee = callees.get(toolOfStep(step))
    return { schema: callee?.tool.output_schema, example: callee?.output }
  }
  const input = definition.input_schema
  const write = (next: ChainStep[]) => {
    if (definition.execution_spec === null) changeAt('execution_spec', ['kind'], 'composition')
    changeAt('execution_spec', ['steps'], next)
  }
  const order = (order: number[]) => {
    write(inOrder(steps, order))
    setUnread((things) => reordered(things, LIST, order))
    setAside((things) => reordered(things, LIST, order))
  }
  const move = (from: number, to: number) => {
    if (to < 0 || to >= steps.length) return
    order(orderMoved(steps.length, from, to))
    focusSoon(`${id}-${to}`)
  }
  const own = faults.filter(({ path }) => path === LIST)
  return (
    <>
      <CompositionPicture />
      <div className="grid min-w-0 gap-3">
        <p className="font-medium">{t('steps')}</p>
        <p className="text-xs text-muted">{t('steps_hint')}</p>
        {own.map(({ message }) => (
          <p key={message} className="text-xs text-bad">
            {message}
          </p>
        ))}
        <ol aria-label={t('steps')} className="grid min-w-0 gap-3">
          {steps.map((step, index) => (
            // The place, not the id: that changes while it is typed.
            // oxlint-disable-next-line react/no-array-index-key
            <li key={index} className="min-w-0">
              <StepCard
                step={step}
                index={index}
                count={steps.length}
                tool={callees.get(toolOfStep(step))?.tool}
                expressions={expressionsAt(inputs, steps.slice(0, index))}
                sources={sourcesAt(input, steps.slice(0, index), outputOf)}
                onChange={(changed) => changeAt('execution_spec', ['steps', index], changed)}
                onMove={(by) => move(index, index + by)}
                onRemove={() => {
                  order(orderWithout(steps.length, index))
                  focusSoon(steps.length > 1 ? `${id}-${Math.max(0, index - 1)}` : id)
                }}
              />
            </li>
          ))}
        </ol>
        {!isOverride && (
          <Button
            id={id}
            size="small"
            className="justify-self-start"
            onClick={() => {
              write([...steps, newStep(steps)])
              focusSoon(`${id}-${steps.length}-tool`)
            }}
          >
            <Plus aria-hidden />
            {t('add_step')}
          </Button>
        )}
      </div>
      <ValueRows
        of="output"
        at={['output']}
        label={t('mapping')}
        hint={t('mapping_rows_hint')}
        jsonHint={
          <>
            {t('mapping_hint')} <Expressions of={expressionsAt(inputs, steps)} />
          </>
        }
        schema={definition.output_schema}
        empty={undefined}
        sources={sourcesAt(input, steps, outputOf)}
      />
    </>
  )
}
