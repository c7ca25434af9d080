export { OpenConfirmDialog, OpenDialog } from './OpenDialog.tsx';
export { OpenMenu } from './OpenMenu.tsx';
export { OpenTip } from './OpenTip.tsx';
