import { Button } from '../components/button'
import { Modal, ModalActions } from '../components/modal'

const shortcuts = [
  ['Ctrl K or ⌘ K', 'Open the command palette'],
  ['/', 'Search in the list of the page'],
  ['j, k', 'Move down and up in a list'],
  ['Arrow keys', 'Move from mark to mark in the time line'],
  ['Enter', 'Open the row'],
  ['Escape', 'Close a dialog or menu'],
  ['?', 'Show these keys'],
]

export const ShortcutHelp = ({ onClose }: { onClose: () => void }) => (
  <Modal title="Keyboard shortcuts" onClose={onClose}>
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
      {shortcuts.map(([keys, meaning]) => (
        <div key={keys} className="contents">
          <dt>
            <kbd className="rounded border bg-raised px-1.5 py-0.5 text-sm">{keys}</kbd>
          </dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
    <ModalActions>
      <Button onClick={onClose}>Close</Button>
    </ModalActions>
  </Modal>
)
