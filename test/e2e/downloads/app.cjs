const { readFileSync } = require('node:fs');
const sdk = require('@fernpost/sdk');
const uses = require('./uses.cjs');

uses(sdk, JSON.parse(readFileSync('input.json', 'utf8'))).then((done) => console.log(JSON.stringify(done)));
