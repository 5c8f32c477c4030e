// Start `ptxspec server` and send it the files that it checks. The server does the rest.

"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

// The languages for which the package is activated.
const { activationEvents, contributes } = require("./package.json");
const LANGUAGES = [
  ...activationEvents.map((event) => event.replace("onLanguage:", "")),
  ...contributes.languages.map((language) => language.id),
];

let client;

function start() {
  const [command, ...args] = vscode.workspace.getConfiguration("ptxspec").get("command");
  const documentSelector = [...new Set(LANGUAGES)].flatMap((language) => [
    { scheme: "file", language },
    { scheme: "untitled", language },
  ]);
  client = new LanguageClient(
    "ptxspec",
    "ptxspec",
    { command, args },
    {
      documentSelector,
      // A changed configuration takes effect at once.
      synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/{ptxspec,pyproject}.toml") },
    },
  );
  return client.start().catch((error) => {
    vscode.window.showErrorMessage(
      `ptxspec: \`${command}\` did not start (${error.message}); run \`pip install 'ptxspec[server]'\`, or set ptxspec.command`,
    );
  });
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("ptxspec.restart", async () => {
      await deactivate();
      await start();
    }),
  );
  await start();
}

async function deactivate() {
  const running = client;
  client = undefined;
  if (running && running.isRunning()) {
    await running.stop();
  }
}

module.exports = { activate, deactivate };
