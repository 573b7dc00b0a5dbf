'use client'
import { Group, Kbd, Table, Text } from '@mantine/core'
import { Dialog } from '@/app/_ui/dialog'

/** One after the other, or one of several. */
const KEYS: [string, string][] = [
  ['A', 'Add a step after the selected one'],
  ['Arrows', 'Move along the connections'],
  ['Home, End', 'Go to START, END'],
  ['Enter', 'Open the step'],
  ['Letters', 'Jump to a step by name'],
  ['L', 'Connect to…'],
  ['Shift L', 'Remove a connection'],
  ['M, Arrows', 'Move the step: first M, then arrows'],
  ['F2', 'Rename'],
  ['Delete', 'Delete and close the gap (Shift: leave the gap)'],
  ['Ctrl C, Ctrl V', 'Copy and paste steps as JSON'],
  ['Ctrl Z, Ctrl Shift Z', 'Undo, redo'],
  ['Ctrl S', 'Save now'],
  ['Ctrl F', 'Find a step'],
  ['Ctrl Space', 'Insert a value in a field'],
  ['1, 0', 'Show all, actual size'],
  ['Shift T', 'Arrange all steps'],
]

/** The editor's keyboard shortcuts. */
export function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title="Keyboard shortcuts">
      <Table>
        <Table.Thead className="visually-hidden">
          <Table.Tr>
            <Table.Th>Key</Table.Th>
            <Table.Th>What it does</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {KEYS.map(([keys, text]) => (
            <Table.Tr key={keys}>
              <Table.Td>
                <Group gap={4}>
                  {keys.split(', ').map((key) => (
                    <Kbd key={key} style={{ whiteSpace: 'nowrap' }}>
                      {key}
                    </Kbd>
                  ))}
                </Group>
              </Table.Td>
              <Table.Td>{text}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Text size="xs" c="dimmed" mt="sm">
        On a Mac, use Cmd instead of Ctrl.
      </Text>
    </Dialog>
  )
}
