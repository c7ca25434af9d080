// What other parts of the service may use of brand kits; everything else in this folder is its own.
export { checkBlocks, compileDocument, findBrand, iconsUrlOf } from './service.ts';
